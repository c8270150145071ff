/* export.c: `later export`: the jobs of a state as lines that `later push --file` takes. */
#include "commands.h"
#include "base/digest.h"
#include "job/document_line.h"
#include "queue/inspect.h"
#include "queue/queue.h"
#include "jobs/walk.h"
#include "whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 25 /* jobs in a call: each may have a document of 1 MiB */

/* One run of the command. */
struct exporting {
    struct cli *cli;
    const char *queue, *state;
    enum later_key set;
    uint64_t written, left_out;
};

static void leave_out(struct exporting *exporting, const char *id, const char *why)
{
    exporting->left_out++;
    cli_say(exporting->cli, "%.200s: left out: %s", id, why);
}

/* --- one job --- */

static int write_line(struct exporting *exporting, const struct later_line *line,
                      struct later_error *err)
{
    size_t len;
    char *bytes = later_line_build(line, &len);

    if (!bytes)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    fwrite(bytes, 1, len, stdout);
    putchar('\n');
    free(bytes);
    exporting->written++;
    if (ferror(stdout))
        return later_fail(err, LATER_E_SYSTEM, "standard output cannot be written");
    return 0;
}

/* A job with an id, as it was seen. */
static int export_known(struct exporting *exporting, const char *id, const struct later_seen *seen,
                        struct later_error *err)
{
    struct later_line line = { .document = seen->document,
                               .document_len = seen->document_len,
                               .priority = seen->priority,
                               .in = -1,
                               .at = -1 };

    if (strlen(id) > LATER_ID_MAX) {
        leave_out(exporting, id, "its id is too long to be pushed");
        return 0;
    }
    strcpy(line.id, id);
    strcpy(line.queue, exporting->queue);
    if (exporting->set == LATER_KEY_DELAYED)
        line.at = seen->score > 0 ? seen->score : 0;
    if (line.at < LATER_AT_MIN && line.at > 0)
        line.at = LATER_AT_MIN; /* as long ago, and push takes it */
    if (line.at >= LATER_AT_END) {
        leave_out(exporting, id, "it is due at a time that cannot be pushed");
        return 0;
    }
    return write_line(exporting, &line, err);
}

/* A member that is its own document: its id is the one that it will be adopted under. */
static int export_document(struct exporting *exporting, const char *document, size_t len,
                           struct later_error *err)
{
    struct later_seen seen = { .document = document, .document_len = len };
    char id[LATER_DIGEST_SIZE];

    later_digest(document, len, id);
    return export_known(exporting, id, &seen, err);
}

/* --- some jobs of a page --- */

/* One that has changed its state since is not exported. */
static int export_shown(struct exporting *exporting, const struct walk *walk, size_t from,
                        const struct later_reply *reply, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && from + i < walk->count && i < SHOWN; i++) {
        struct later_seen seen;
        size_t len;
        const char *member = walk_member(walk, from + i, &len);

        later_inspect_shown(reply, i, &seen);
        if (strcmp(seen.state, exporting->state) == 0)
            ok = export_known(exporting, member, &seen, err);
        else if (!*seen.state && member[0] == '{')
            ok = export_document(exporting, member, len, err);
    }
    return ok;
}

static int export_some(struct exporting *exporting, const struct walk *walk, size_t from,
                       struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    const char *ids[SHOWN];
    size_t count = 0;
    int ok;

    for (; count < SHOWN && from + count < walk->count; count++)
        ids[count] = walk_member(walk, from + count, NULL);
    later_queue_ids(&cmd, LATER_SCRIPT_SHOW, walk->keys, ids, count);
    reply = cli_call(exporting->cli, &cmd, LATER_SCRIPT_SHOW, err);
    ok = reply ? export_shown(exporting, walk, from, reply, err) : -1;
    later_reply_free(reply);
    return ok;
}

/* --- all --- */

static int export_part(struct exporting *exporting, const struct later_keys *keys,
                       struct later_error *err)
{
    struct walk walk = { .cli = exporting->cli, .keys = keys, .set = exporting->set };
    int more;

    while ((more = walk_next(&walk, err)) > 0) {
        for (size_t i = walk.from; more >= 0 && i < walk.count; i += SHOWN)
            more = export_some(exporting, &walk, i, err);
        if (more < 0)
            break;
    }
    walk_end(&walk);
    return more;
}

static int set_of(const char *state, enum later_key *set, struct later_error *err)
{
    static const enum later_key sets[] = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_DEAD };

    if (!state)
        return later_fail(err, LATER_E_USAGE, "--state is missing: ready, delayed or dead");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (strcmp(state, later_key_name(sets[i])) == 0) {
            *set = sets[i];
            return 0;
        }
    }
    return later_fail(err, LATER_E_USAGE, "--state: %.40s is none of ready, delayed, dead", state);
}

static int run(struct cli *cli, struct later_error *err)
{
    struct exporting exporting = { .cli = cli, .state = args_text(&cli->args, "state") };
    struct whole whole;
    int ok = 0;

    if (set_of(exporting.state, &exporting.set, err) < 0 ||
        whole_find(cli, cli->args.words[0], &whole, err) < 0)
        return -1;
    exporting.queue = whole.name;
    for (size_t i = 0; ok == 0 && i < whole.count; i++)
        ok = export_part(&exporting, &whole.parts[i], err);
    if (ok < 0)
        return -1;
    if (cli->err_terminal || exporting.left_out)
        cli_say(cli, "%" PRIu64 " exported, %" PRIu64 " left out", exporting.written,
                exporting.left_out);
    return exporting.left_out ? LATER_E_DATA : LATER_OK;
}

static const struct args_option options[] = {
    { "state", 0, "STATE", "ready, delayed or dead" },
    { 0 },
};

const struct command command_export = {
    .name = "export",
    .usage = "Q --state STATE",
    .brief = "Write the jobs of a state as lines for `later push --file`",
    .more =
        "Each line has queue, id, the time at which a delayed job is due, priority, and the\n"
        "document with its very bytes. The jobs stay where they are; what was tried and failed\n"
        "before is not written. Of a queue in use, what stays in its state meanwhile is there\n"
        "once.\n",
    .example = "later export mail --state dead >dead.ndjson\nlater push --file dead.ndjson\n",
    .options = options,
    .min = 1,
    .max = 1,
    .run = run,
};
