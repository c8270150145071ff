/* marks.c: what happened besides jobs. */
#include "see/marks.h"

#include "client/call.h"
#include "output/jsonl.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

static void marks_note(struct cli *cli, enum later_note note, double now, const char *words)
{
    struct later_command cmds[LATER_NOTE_COMMANDS];
    struct later_error ignored;

    memset(cmds, 0, sizeof cmds);
    later_marks_note(cmds, later_call_prefix(cli->client), note, now, words);
    for (int i = 0; i < LATER_NOTE_COMMANDS; i++)
        later_reply_free(cli_call(cli, &cmds[i], &ignored));
}

void marks_note_pause(struct cli *cli, const char *queue, const char *type, bool paused,
                      double seconds)
{
    struct later_error ignored;
    char words[LATER_QUEUE_MAX + LATER_TYPE_MAX + 32], until[32] = "";
    double now;

    if (cli_clock(cli, &now, &ignored) < 0)
        return;
    if (paused)
        snprintf(until, sizeof until, " %.3f", seconds > 0 ? now + seconds : 0);
    snprintf(words, sizeof words, "%s%s%s%s", queue, until, type ? " " : "", type ? type : "");
    marks_note(cli, paused ? LATER_NOTE_PAUSE : LATER_NOTE_RESUME, now, words);
}

void marks_note_set(struct cli *cli, const char *name, bool set, double seconds)
{
    struct later_error ignored;
    char words[LATER_MARKS_NOTE];
    double now;

    if (cli_clock(cli, &now, &ignored) < 0)
        return;
    if (set)
        snprintf(words, sizeof words, "%.3f %s", seconds > 0 ? now + seconds : 0, name);
    marks_note(cli, set ? LATER_NOTE_SET : LATER_NOTE_UNSET, now, set ? words : name);
}

static bool marks_is_asked(const struct cli *cli, const struct later_mark *mark)
{
    bool asked = cli->args.count == 0 || !*mark->queue;

    for (int i = 0; i < cli->args.count; i++)
        asked |= strcmp(cli->args.words[i], mark->queue) == 0;
    return asked;
}

static void marks_print_json(const struct later_mark *mark)
{
    struct jsonl json;

    jsonl_begin(&json, stdout);
    jsonl_add(&json, "mark:%s words:%s", later_mark_name(mark->what), later_mark_words(mark->what));
    if (*mark->queue)
        jsonl_text(&json, "queue", mark->queue);
    if (*mark->type)
        jsonl_text(&json, "type", mark->type);
    if (*mark->version)
        jsonl_text(&json, "version", mark->version);
    if (*mark->set)
        jsonl_text(&json, "set", mark->set);
    jsonl_add(&json, "from:%f to:%f open:%c", mark->from, mark->to, mark->open);
    jsonl_end(&json);
}

static void marks_add_row(struct table *table, const struct later_mark *mark)
{
    char of[sizeof mark->queue + sizeof mark->type + sizeof mark->set];

    table_time(table, PLAIN, mark->from);
    if (mark->open)
        table_none(table);
    else
        table_time(table, PLAIN, mark->to);
    table_text(table, PLAIN, later_mark_name(mark->what));
    snprintf(of, sizeof of, "%s%s%s%s", *mark->queue ? mark->queue : mark->version,
             *mark->type ? " " : "", mark->type, mark->set);
    table_text(table, PLAIN, of);
    table_text(table, PLAIN, later_mark_words(mark->what));
}

int marks_print(struct cli *cli, double from, double to, struct later_error *err)
{
    static const char *const headings[] = { "FROM", "TO", "MARK", "OF", "", NULL };
    static struct later_mark marks[LATER_MARKS_MAX];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct table table;
    size_t count;

    later_marks_ask(&cmd, later_call_prefix(cli->client));
    reply = cli_call(cli, &cmd, err);
    if (!reply)
        return -1;
    count = later_marks_read(marks, reply, to);
    later_reply_free(reply);
    cli_table(cli, &table, headings);
    for (size_t i = 0; i < count; i++) {
        if (marks[i].to < from || marks[i].from > to || !marks_is_asked(cli, &marks[i]))
            continue;
        if (cli->json)
            marks_print_json(&marks[i]);
        else
            marks_add_row(&table, &marks[i]);
    }
    table_end(&table);
    return 0;
}
