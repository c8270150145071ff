/* peek.c: `later peek` and `later show`. */
#include "commands.h"
#include "job/document.h"
#include "output/jsonl.h"
#include "jobs/find.h"
#include "jobs/merge.h"
#include "jobs/peek.h"
#include "why/why.h"
#include "queue_list.h"
#include "queue/queue.h"
#include "text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- printing a job --- */

/* Reads its document. Its type and its description are empty if that cannot be read. */
static void peek_read(struct later_document *doc, const struct later_seen *seen)
{
    struct later_error ignored;

    if (later_document_parse(doc, LATER_DOCUMENT_JOB, seen->document, seen->document_len, SIZE_MAX,
                             &ignored) < 0)
        doc->type[0] = doc->description[0] = '\0';
}

void peek_type(const struct later_seen *seen, char type[LATER_TYPE_MAX + 1])
{
    struct later_document doc;

    peek_read(&doc, seen);
    memcpy(type, doc.type, sizeof doc.type);
}

static void peek_add_error(struct jsonl *json, const struct later_seen *seen)
{
    if (seen->record.error_len)
        jsonl_foreign(json, "error", seen->record.error, seen->record.error_len);
    else
        jsonl_text(json, "error", NULL);
    earlier_json(json, seen);
}

void peek_print_json(const char *queue, const struct later_seen *seen,
                     const struct peek_beside *beside)
{
    char type[LATER_TYPE_MAX + 1];
    struct jsonl json;

    peek_type(seen, type);
    jsonl_begin(&json, stdout);
    jsonl_add(&json, "queue:%s id:%s state:%s type:%s score:%f attempts:%u priority:%d", queue,
              text_known(seen->id), seen->state, text_known(type),
              seen->has_score ? seen->score : NAN, seen->record.attempts, seen->record.priority);
    if (seen->record.group_len)
        jsonl_bytes(&json, "group", seen->record.group, seen->record.group_len);
    peek_add_error(&json, seen);
    if (beside)
        why_json(&json, beside->why);
    if (seen->record.progress_len)
        jsonl_foreign(&json, "progress", seen->record.progress, seen->record.progress_len);
    if (seen->record.checkpoint_len)
        jsonl_foreign(&json, "checkpoint", seen->record.checkpoint, seen->record.checkpoint_len);
    if (beside && seen->record.log_len) /* lists of jobs would become too long */
        jsonl_foreign(&json, "log", seen->record.log, seen->record.log_len);
    if (seen->record.finished_len)
        jsonl_foreign(&json, "finished", seen->record.finished, seen->record.finished_len);
    if (beside && beside->left->value) /* as the document: each digit stays as it is */
        jsonl_bytes(&json, "result", beside->left->value, beside->left->len);
    jsonl_bytes(&json, "document", seen->document, seen->document_len);
    jsonl_end(&json);
}

/* Returns the time to show: when the job was pushed, is due, lapses, died or ended. The score of a
 * done job says how long it is kept, so its end is read from what is kept. */
static double when_of(const struct later_seen *seen)
{
    json_t *finished;
    double when = seen->score;

    if (strcmp(seen->state, "ready") == 0)
        return seen->record.since > 0 ? seen->record.since : when + 1e6 * seen->record.priority;
    finished = json_loadb(seen->record.finished, seen->record.finished_len, 0, NULL);
    if (finished)
        when = text_number_member(finished, "at");
    json_decref(finished);
    return when;
}

static void add_score(const struct cli *cli, struct table *table, const struct later_seen *seen)
{
    char text[48];

    if (!seen->has_score)
        table_none(table);
    else if (!cli->out_terminal)
        table_text(table, PLAIN, text_put_real(text, sizeof text, seen->score));
    else
        table_time(table, PLAIN, when_of(seen));
}

/* Adds an error's kind and text, or an error of another form as it is. */
static void add_error(struct table *table, const struct later_seen *seen)
{
    json_t *error = json_loadb(seen->record.error, seen->record.error_len, 0, NULL);
    const char *kind = json_string_value(json_object_get(error, "kind"));
    const char *text = json_string_value(json_object_get(error, "text"));

    if (seen->record.error_len == 0)
        table_none(table);
    else if (kind && text)
        table_print(table, RED, "%s: %s", kind, text);
    else
        table_bytes(table, RED, seen->record.error, seen->record.error_len);
    json_decref(error);
}

void peek_add_progress(struct table *table, const struct later_seen *seen)
{
    json_t *progress = json_loadb(seen->record.progress, seen->record.progress_len, 0, NULL);
    double done = text_number_member(progress, "done");
    double total = text_number_member(progress, "total");
    const char *text = text_member(progress, "text");
    char of[40] = "";

    if (total > 0)
        snprintf(of, sizeof of, " of %.15g", total);
    table_print(table, PLAIN, "%.15g%s%s%s", done, of, *text ? ", " : "", text);
    json_decref(progress);
}

/* Adds a text like `12.5 ms on web1`. */
static void add_finished(struct table *table, const struct later_seen *seen)
{
    json_t *finished = json_loadb(seen->record.finished, seen->record.finished_len, 0, NULL);
    double ms = text_number_member(finished, "ms");
    const char *host = text_member(finished, "host");

    table_print(table, PLAIN, "%.15g ms%s%s", ms, *host ? " on " : "", host);
    json_decref(finished);
}

void peek_add_row(const struct cli *cli, struct table *table, const struct later_seen *seen)
{
    char type[LATER_TYPE_MAX + 1];

    peek_type(seen, type);
    table_text(table, PLAIN, text_known(seen->id));
    table_text(table, strcmp(seen->state, "dead") == 0 ? RED : PLAIN, seen->state);
    table_text(table, PLAIN, text_known(type));
    add_score(cli, table, seen);
    table_number(table, PLAIN, seen->record.attempts);
    table_print(table, PLAIN, "%d", (int)seen->record.priority);
    add_error(table, seen);
    table_bytes(table, DIM, seen->document, seen->document_len);
}

void peek_begin_rows(const struct cli *cli, struct table *table)
{
    static const char *const headings[] = { "ID",        "STATE", "TYPE",     "WHEN", ">ATTEMPTS",
                                            ">PRIORITY", "ERROR", "DOCUMENT", NULL };

    cli_table(cli, table, headings);
}

/* --- peek --- */

static void print_seen(struct cli *cli, struct table *table, const char *queue,
                       const struct later_seen *seen)
{
    if (cli->json)
        peek_print_json(queue, seen, NULL);
    else
        peek_add_row(cli, table, seen);
}

static int peek(struct cli *cli, const char *state, uint64_t offset, uint64_t most,
                struct later_error *err)
{
    char nothing[2 * LATER_QUEUE_MAX + 80];
    struct whole whole;
    struct merge merge;
    struct table table;
    bool printed = false;
    int more;

    if (whole_find(cli, cli->args.words[0], &whole, err) < 0)
        return -1;
    peek_begin_rows(cli, &table);
    snprintf(nothing, sizeof nothing, "no %s job in %s; `later size %s` counts all", state,
             whole.name, whole.name);
    merge_begin(&merge, cli, &whole, state, offset, most);
    for (;;) {
        struct later_seen seen;

        more = merge_next(&merge, &seen, err);
        if (more <= 0)
            break;
        print_seen(cli, &table, whole.name, &seen);
        printed = true;
    }
    merge_end(&merge);
    if (more == 0 && offset == 0)
        cli_instead(cli, &table, nothing);
    table_end(&table);
    if (more == 0 && !printed)
        queue_list_warn(cli, whole.name);
    return more;
}

static int run_peek(struct cli *cli, struct later_error *err)
{
    static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED,
                                           LATER_KEY_DEAD,  LATER_KEY_WAITING, LATER_KEY_DONE };
    const char *state = args_text(&cli->args, "state");
    int64_t most = 10, offset = 0;
    enum later_key set;

    state = state ? state : "ready";
    if (cli_state(state, sets, sizeof sets / sizeof *sets, &set, err) < 0 ||
        cli_number(cli, "number", 1, INT32_MAX, &most, err) < 0 ||
        cli_number(cli, "offset", 0, INT32_MAX, &offset, err) < 0)
        return -1;
    return peek(cli, state, (uint64_t)offset, (uint64_t)most, err);
}

static const struct args_option peek_options[] = {
    { "state", 0, "STATE", "ready (default), delayed, reserved, dead, waiting or done" },
    { "number", 'n', "N", "at most N jobs (10)" },
    { "offset", 0, "N", "skip the first N (0)" },
    { 0 },
};

const struct command command_peek = {
    .name = "peek",
    .usage = "Q [--state STATE] [-n N] [--offset N]",
    .brief = "Show the first jobs of a queue",
    .more =
        "They stay where they are. In a pipe, separated by TAB: id, state, type, score, attempts,\n"
        "priority, error, document. A job from a plain ZADD has no id until it is adopted. Done\n"
        "jobs are those that types.keep of laterd.conf(5) keeps.\n",
    .example = "later peek mail --state dead -n 3\n",
    .options = peek_options,
    .min = 1,
    .max = 1,
    .run = run_peek,
};

/* --- show --- */

/* Adds a member; nothing if it has no bytes. */
static void card_add(struct table *card, const char *name, const char *bytes, size_t len)
{
    if (len == 0)
        return;
    table_text(card, DIM, name);
    table_bytes(card, PLAIN, bytes, len);
}

static void card_add_text(struct table *card, const char *name, const char *text)
{
    card_add(card, name, text, strlen(text));
}

/* What it has written, and its document. */
static void card_add_rest(struct table *card, const struct later_seen *seen,
                          const struct left *left)
{
    const struct later_record *record = &seen->record;

    if (record->progress_len) {
        table_text(card, DIM, "progress");
        peek_add_progress(card, seen);
    }
    card_add(card, "checkpoint", record->checkpoint, record->checkpoint_len);
    if (record->finished_len) {
        table_text(card, DIM, "took");
        add_finished(card, seen);
    }
    card_add(card, "result", left->value, left->len);
    earlier_log_rows(card, seen);
    table_text(card, DIM, "document");
    table_bytes(card, PLAIN, seen->document, seen->document_len);
}

/* Prints a job for people: one member per line, nothing cut. */
static void print_card(const struct cli *cli, const char *queue, const struct later_seen *seen,
                       const struct peek_beside *beside)
{
    const char *const headings[] = { "JOB", seen->id, NULL };
    const struct later_record *record = &seen->record;
    char why[LATER_WHYS_MAX * LATER_WHY_SIZE];
    struct later_document doc;
    struct table card;

    peek_read(&doc, seen);
    why_say(why, sizeof why, beside->why);
    cli_table(cli, &card, headings);
    card.whole = true;
    card_add_text(&card, "queue", queue);
    table_text(&card, DIM, "state");
    table_text(&card, strcmp(seen->state, "dead") == 0 ? RED : PLAIN, seen->state);
    card_add_text(&card, "why", why);
    table_text(&card, DIM, "type");
    table_text(&card, PLAIN, doc.type);
    card_add_text(&card, "description", doc.description);
    table_text(&card, DIM, "when");
    add_score(cli, &card, seen);
    table_text(&card, DIM, "attempts");
    table_number(&card, PLAIN, record->attempts);
    table_text(&card, DIM, "priority");
    table_print(&card, PLAIN, "%d", (int)record->priority);
    card_add(&card, "group", record->group, record->group_len);
    table_text(&card, DIM, "error");
    add_error(&card, seen);
    earlier_rows(&card, seen);
    card_add_rest(&card, seen, beside->left);
    table_end(&card);
}

int peek_find(struct cli *cli, const char *queue, const char *id, struct peek_found *found,
              struct later_error *err)
{
    const struct later_keys *parts[LATER_WHOLE_MAX];
    size_t count;

    *found = (struct peek_found){ .reply = NULL };
    if (whole_find(cli, queue, &found->whole, err) < 0)
        return -1;
    count = whole_parts(&found->whole, id, parts);
    for (size_t i = 0; i < count && (i == 0 || !*found->seen.state); i++) {
        struct later_command cmd = { 0 };

        later_reply_free(found->reply);
        later_queue_ids(&cmd, LATER_SCRIPT_SHOW, parts[i], &id, 1);
        found->reply = cli_call(cli, &cmd, err);
        if (!found->reply)
            return -1;
        later_inspect_shown(found->reply, &found->seen);
        found->part = parts[i];
    }
    found->seen.id = id;
    return *found->seen.state != '\0';
}

void peek_found_end(struct peek_found *found)
{
    later_reply_free(found->reply);
    found->reply = NULL;
}

/* What is known of a job that is not there, and what would keep it; the pages say it, too. */
#define SHOW_GONE                                                                                  \
    "it has ended or been cancelled, or never existed; types.keep (laterd.conf) keeps those that " \
    "are done for a time, and `later wait` tells a result that may still be there"

/* One run of `later show`. */
struct show {
    struct cli *cli;
    struct table table;
    struct finder finder;
    struct why why;
};

static int show_print(struct show *show, const struct peek_found *found, struct later_error *err)
{
    const struct later_seen *seen = &found->seen;
    struct why_answer answer = { .count = 0 };
    struct left left;
    const struct peek_beside beside = { .why = &answer, .left = &left };
    int ok;

    if (!show->cli->json && !show->cli->out_terminal) {
        peek_add_row(show->cli, &show->table, seen);
        return 0;
    }
    ok = left_find(show->cli, found->part, seen, &left, err);
    if (ok == 0)
        ok = why_find(&show->why, &found->whole, found->part, seen, &answer, err);
    if (ok == 0 && show->cli->json)
        peek_print_json(found->whole.name, seen, &beside);
    else if (ok == 0)
        print_card(show->cli, found->whole.name, seen, &beside);
    left_free(&left);
    return ok;
}

/* Shows the job if it is in this queue. Returns whether it was, or -1 with *err. */
static int show_in(struct show *show, const char *queue, const char *id, struct later_error *err)
{
    struct peek_found found;
    int there = peek_find(show->cli, queue, id, &found, err);

    if (there > 0 && show_print(show, &found, err) < 0)
        there = -1;
    peek_found_end(&found);
    return there;
}

/* Returns the exit status, or -1 with *err. */
static int show_one(struct show *show, const char *id, struct later_error *err)
{
    struct cli *cli = show->cli;
    char where[LATER_QUEUE_MAX + 16];
    later_queue_name queue;
    int found = finder_look(&show->finder, id, queue, err);

    if (found > 0)
        found = show_in(show, queue, id, err);
    if (found < 0 && err->code != LATER_E_USAGE)
        return -1;
    if (found < 0)
        cli_say(cli, "%s", err->text);
    if (found == 0)
        cli_say(cli, "no job %s%s: " SHOW_GONE, id, find_where(cli, where));
    return found < 0 ? LATER_E_USAGE : found ? LATER_OK : LATER_E_NONE;
}

static int show_run(struct cli *cli, struct later_error *err)
{
    struct show show = { .cli = cli, .why = { .cli = cli } };
    int status = finder_begin(&show.finder, cli, FIND_DONE, err);

    peek_begin_rows(cli, &show.table);
    /* One id per call, since documents may be large. */
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = show_one(&show, cli->args.words[i], err);

        status = one != LATER_OK ? one : status;
    }
    table_end(&show.table);
    if (status == LATER_E_NONE)
        queue_list_warn(cli, args_text(&cli->args, "queue"));
    finder_end(&show.finder);
    why_end(&show.why);
    return status;
}

static const struct args_option show_options[] = {
    { "queue", 'q', "Q", "of this queue (any)" },
    { 0 },
};

const struct command command_show = {
    .name = "show",
    .usage = "ID... [-q Q]",
    .brief = "Show jobs, whatever their state",
    .more =
        "On a terminal and with --json it also says why a job that waits does not run. In a pipe,\n"
        "like `later peek`.\n",
    .example = "later show 0198c2f0-7d1e-7a3b-8c5d-2f6e9a1b4c7d\n",
    .options = show_options,
    .min = 1,
    .max = -1,
    .run = show_run,
};
