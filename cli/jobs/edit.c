/* edit.c: `later edit` gives a job that does not run another document. */
#include "commands.h"
#include "job/document.h"
#include "job/json.h"
#include "job/json_layout.h"
#include "jobs/find.h"
#include "jobs/peek.h"
#include "jobs/reschedule.h"
#include "lines.h"
#include "output/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EDITOR_LINE "exec ${VISUAL:-${EDITOR:-editor}} \"$LATER_EDIT\""

/* One run of the command. */
struct editing {
    struct cli *cli;
    const char *id;
    struct peek_found found;
    char path[256]; /* of the file that is edited; "": there is none */
    char *text;     /* the new document; owned */
    size_t len;
};

/* --- the file --- */

static int edit_fail(const char *path, struct later_error *err)
{
    return later_fail(err, LATER_E_NONE, "%.300s: %s", path, strerror(errno));
}

/* Reads all of a file, and adds a NUL. "-" is standard input. */
static int edit_read(struct editing *editing, const char *path, struct later_error *err)
{
    /* White space that only people need does not count against the limit, but memory has one. */
    size_t max = 4 * editing->cli->where.document_max + 4095, len;
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 ? lines_all(fd, max, &len) : NULL;

    if (!text)
        edit_fail(path, err);
    if (fd > STDIN_FILENO)
        close(fd);
    if (!text)
        return -1;
    free(editing->text);
    editing->text = text;
    editing->len = len;
    return len <= max
               ? 0
               : later_fail(err, LATER_E_DATA,
                            "%.300s: longer than %zu bytes" LATER_DOCUMENT_REMEDY, path, max);
}

/* Writes the document, with lines for people if it is JSON. */
static int edit_write(struct editing *editing, struct later_error *err)
{
    const struct later_seen *seen = &editing->found.seen;
    const char *folder = getenv("TMPDIR");
    struct later_error why;
    size_t len = seen->document_len;
    char *text = NULL;
    FILE *file;
    int fd;

    if (later_json_scan(seen->document, len, NULL, 0, &why) == 0)
        text = later_json_indent(seen->document, seen->document_len, &len);
    snprintf(editing->path, sizeof editing->path, "%.200s/later-edit-XXXXXX.json",
             folder && *folder ? folder : "/tmp");
    fd = mkostemps(editing->path, 5, O_CLOEXEC);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file) {
        fwrite(text ? text : seen->document, 1, len, file);
        putc('\n', file);
    }
    free(text);
    if (!file || fclose(file) != 0) {
        edit_fail(editing->path, err);
        editing->path[0] = fd >= 0 ? editing->path[0] : '\0';
        return -1;
    }
    return 0;
}

/* The person who edits works at our terminal. */
static int edit_run_editor(const struct editing *editing, struct later_error *err)
{
    int status;

    setenv("LATER_EDIT", editing->path, 1);
    status = system(EDITOR_LINE);
    if (status == 0)
        return 0;
    return later_fail(err, LATER_E_NONE,
                      "the editor (VISUAL, else EDITOR, else `editor`) ended with status %d; "
                      "nothing was changed",
                      WIFEXITED(status) ? WEXITSTATUS(status) : 128);
}

/* --- the document --- */

/* Is it a document? Then it is made compact, as it is kept. */
static int edit_check(struct editing *editing, struct later_error *err)
{
    size_t most = editing->cli->where.document_max;
    struct later_document document;
    struct later_error why;

    if (later_document_parse(&document, LATER_DOCUMENT_JOB, editing->text, editing->len,
                             editing->len + 1, &why) < 0)
        return later_fail(err, why.code, "%s", why.text);
    editing->len = later_json_compact(editing->text, editing->len);
    if (editing->len > most)
        return later_fail(
            err, LATER_E_DATA,
            "the document has %zu bytes, at most %zu are allowed" LATER_DOCUMENT_REMEDY,
            editing->len, most);
    return 0;
}

/* Has it been changed but for its white space? */
static bool edit_is_same(const struct editing *editing)
{
    char *old = strndup(editing->found.seen.document, editing->found.seen.document_len);
    size_t len = old ? later_json_compact(old, strlen(old)) : 0;
    bool same = old && len == editing->len && memcmp(old, editing->text, len) == 0;

    free(old);
    return same;
}

static bool edit_asks_again(const struct editing *editing, const struct later_error *why)
{
    char answer[16] = "";

    cli_say(editing->cli, "%s", why->text);
    if (!editing->cli->in_terminal || !editing->cli->err_terminal)
        return false;
    fprintf(stderr, "Edit it again? [Y/n] ");
    fflush(stderr);
    return fgets(answer, sizeof answer, stdin) && answer[0] != 'n' && answer[0] != 'N';
}

/* Lets a person edit until it is a document. Returns the exit status; or -1 with *err. */
static int edit_by_hand(struct editing *editing, struct later_error *err)
{
    if (edit_write(editing, err) < 0)
        return -1;
    do {
        if (edit_run_editor(editing, err) < 0 || edit_read(editing, editing->path, err) < 0)
            return -1;
        if (edit_check(editing, err) == 0)
            return LATER_OK;
    } while (edit_asks_again(editing, err));
    cli_say(editing->cli, "nothing was changed; what you wrote is in %s", editing->path);
    editing->path[0] = '\0';
    return LATER_E_DATA;
}

static int edit_take(struct editing *editing, struct later_error *err)
{
    const char *file = args_text(&editing->cli->args, "file");

    if (!file)
        return edit_by_hand(editing, err);
    return edit_read(editing, file, err) < 0 || edit_check(editing, err) < 0 ? -1 : LATER_OK;
}

/* --- the job --- */

/* Says why nothing was changed, and keeps what was written. */
static int edit_refuse(struct editing *editing, const char *why, int status)
{
    bool kept = *editing->path != '\0' && editing->text;

    cli_say(editing->cli, "job %s %s; nothing was changed%s%s", editing->id, why,
            kept ? "; what you wrote is in " : "", kept ? editing->path : "");
    if (kept)
        editing->path[0] = '\0';
    return status;
}

/* Says what the state means. Returns LATER_OK if such a job may be edited, else the status. */
static int edit_state(struct editing *editing, const char *state)
{
    if (!*state)
        return edit_refuse(editing, "is gone", LATER_E_NONE);
    if (strcmp(state, "done") == 0)
        return edit_refuse(editing, "is done", LATER_E_NONE);
    if (strcmp(state, "reserved") == 0)
        return edit_refuse(editing, "is reserved: it runs, or is about to", LATER_E_LATER);
    if (strcmp(state, "changed") == 0)
        return edit_refuse(editing, "was changed by somebody else meanwhile", LATER_E_LATER);
    return LATER_OK;
}

static void edit_tell(const struct editing *editing, const char *queue, const char *state)
{
    if (editing->cli->json)
        jsonl_line(stdout, "queue:%s id:%s result:edited state:%s", queue, editing->id, state);
    else
        printf("%s\t%s\n", editing->id, state);
}

static int edit_replace(struct editing *editing, const char *queue, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    const char *state;
    int status;

    later_inspect_edit(&cmd, editing->found.part, editing->id, editing->found.seen.document,
                       editing->found.seen.document_len, editing->text, editing->len);
    reply = cli_call_once(editing->cli, &cmd, err);
    if (!reply)
        return -1;
    state = later_reply_text(reply, NULL);
    status = edit_state(editing, state);
    if (status == LATER_OK)
        edit_tell(editing, queue, state);
    later_reply_free(reply);
    return status;
}

static int edit_seen(struct editing *editing, const char *queue, struct later_error *err)
{
    int status = edit_state(editing, editing->found.seen.state);

    if (status == LATER_OK)
        status = edit_take(editing, err);
    if (status != LATER_OK)
        return status;
    if (!edit_is_same(editing))
        return edit_replace(editing, queue, err);
    cli_say(editing->cli, "job %s is as it was", editing->id);
    return LATER_OK;
}

static int edit_in(struct editing *editing, const char *queue, struct later_error *err)
{
    int status = peek_find(editing->cli, queue, editing->id, &editing->found, err);

    if (status >= 0)
        status = edit_seen(editing, editing->found.whole.name, err);
    if (*editing->path)
        unlink(editing->path);
    free(editing->text);
    peek_found_end(&editing->found);
    if (status == LATER_E_NONE)
        queue_list_warn(editing->cli, args_text(&editing->cli->args, "queue"));
    return status;
}

static int edit_run(struct cli *cli, struct later_error *err)
{
    struct editing editing = { .cli = cli, .id = cli->args.words[0] };
    char where[LATER_QUEUE_MAX + 16];
    later_queue_name queue;
    struct finder finder;
    int found;

    if (reschedule_is_asked(cli))
        return reschedule_run(cli, err);
    found = finder_begin(&finder, cli, FIND_JOBS, err);
    if (found == 0)
        found = finder_look(&finder, editing.id, queue, err);
    finder_end(&finder);
    if (found < 0)
        return -1;
    if (found > 0)
        return edit_in(&editing, queue, err);
    cli_say(cli, "no job %s%s", editing.id, find_where(cli, where));
    return LATER_E_NONE;
}

/* Without it a person edits. */
static const char *edit_lacks(const struct cli *cli)
{
    return args_text(&cli->args, "file") || reschedule_is_asked(cli) ? NULL : "file";
}

static const struct args_option options[] = {
    { "queue", 'q', "Q", "of this queue (any)" },
    { "file", 'f', "FILE", "take the document from there; - is standard input" },
    RESCHEDULE_OPTIONS,
    { 0 },
};

const struct command command_edit = {
    .name = "edit",
    .usage = "ID [-q Q] [--file FILE] | ID [-q Q] [--in DURATION | --at TIME] [--priority N]",
    .brief = "Edit a job that does not run: its document, or when it is due",
    .more = "It opens in $VISUAL, $EDITOR or `editor`. The job keeps its place, its attempts, its\n"
            "priority and the time at which it is due. A running job is left alone (75), and so is "
            "one\n"
            "that somebody else has changed meanwhile. What is no document is not taken (65).\n"
            "With --in, --at or --priority the document stays, and a ready or delayed job is due\n"
            "then, or has that priority. In a pipe: id and the state it had.\n",
    .example = "later edit order-1138\n"
               "later show order-1138 | cut -f 8 | sed s/exmaple/example/ |\n"
               "    later edit order-1138 --file -\n"
               "later edit order-1138 --at 'tomorrow 9:00'\n",
    .options = options,
    .min = 1,
    .max = 1,
    .by_hand = edit_lacks,
    .run = edit_run,
};
