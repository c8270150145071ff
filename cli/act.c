/* act.c: `later kick`, `purge`, `pause`, `resume`. */
#include "commands.h"
#include "jsonl.h"
#include "look.h"
#include "queue.h"
#include "queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 100 /* members fetched at a time; one may be a whole document */

/* Tells how many jobs something was done to. */
static void print_count(const struct cli *cli, const char *queue, const char *done, uint64_t count)
{
    struct jsonl json;

    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", queue);
        jsonl_int(&json, done, (int64_t)count);
        jsonl_end(&json);
    } else if (cli->out_terminal) {
        printf("%" PRIu64 " %s\n", count, done);
    } else {
        printf("%" PRIu64 "\n", count);
    }
}

/* --- kick --- */

/* Kicks these ids; the reply tells where each came from. */
static struct later_reply *kick(struct cli *cli, const struct later_keys *keys,
                                const char *const *ids, size_t count, struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_queue_ids(&cmd, LATER_SCRIPT_KICK, keys, ids, count);
    return cli_call_once(cli, &cmd, LATER_SCRIPT_KICK, err);
}

/* Kicks the first jobs of a state. Returns how many, or -1 with *err. */
static int kick_page(struct cli *cli, const struct later_keys *keys, enum later_key state,
                     uint64_t most, struct later_error *err)
{
    const char *ids[PAGE];
    struct later_command cmd = { 0 };
    struct later_reply *page, *reply = NULL;
    size_t count;
    int kicked = 0;

    later_look_range(&cmd, keys, state, 0, most < PAGE ? most - 1 : PAGE - 1);
    page = cli_call(cli, &cmd, LATER_NO_SCRIPT, err);
    if (!page)
        return -1;
    count = later_reply_count(page) < PAGE ? later_reply_count(page) : PAGE;
    for (size_t i = 0; i < count; i++)
        ids[i] = later_reply_text(later_reply_at(page, i), NULL);
    if (count > 0)
        reply = kick(cli, keys, ids, count, err);
    for (size_t i = 0; reply && i < count; i++)
        kicked += *later_reply_text(later_reply_at(reply, i), NULL) != '\0';
    if (count > 0 && !reply)
        kicked = -1;
    later_reply_free(reply);
    later_reply_free(page);
    return kicked;
}

/* Kicks what was in a state when it was counted; what comes later is left alone. */
static int kick_state(struct cli *cli, const struct later_keys *keys, enum later_key state,
                      uint64_t count, uint64_t *kicked, struct later_error *err)
{
    while (count > 0) {
        int done = kick_page(cli, keys, state, count, err);

        if (done <= 0)
            return done;
        count -= (uint64_t)done;
        *kicked += (uint64_t)done;
    }
    return 0;
}

static int kick_all(struct cli *cli, struct later_error *err)
{
    const char *state = args_text(&cli->args, "state");
    struct later_sizes sizes;
    struct later_keys keys;
    uint64_t kicked = 0;
    char what[160];
    int status;

    if (state && strcmp(state, "dead") != 0 && strcmp(state, "delayed") != 0)
        return later_fail(err, LATER_E_USAGE, "--state: %.40s is none of dead, delayed", state);
    if (cli->args.count != 1)
        return later_fail(err, LATER_E_USAGE, "--all takes one queue");
    if (cli_keys(cli, cli->args.words[0], &keys, err) < 0 ||
        queues_size(cli, &keys, &sizes, err) < 0)
        return -1;
    if (state && strcmp(state, "dead") == 0)
        sizes.delayed = 0;
    else if (state)
        sizes.dead = 0;
    snprintf(what, sizeof what, "Kick %" PRIu64 " dead and %" PRIu64 " delayed jobs of queue %s",
             sizes.dead, sizes.delayed, keys.queue);
    status = sizes.dead + sizes.delayed ? cli_ask(cli, what) : LATER_OK;
    if (status != LATER_OK)
        return status;
    if (kick_state(cli, &keys, LATER_KEY_DEAD, sizes.dead, &kicked, err) < 0 ||
        kick_state(cli, &keys, LATER_KEY_DELAYED, sizes.delayed, &kicked, err) < 0)
        status = -1;
    print_count(cli, keys.queue, "kicked", kicked);
    return status;
}

static int kick_one(struct cli *cli, struct table *table, const struct later_keys *keys,
                    const char *id, struct later_error *err)
{
    struct later_reply *reply = kick(cli, keys, &id, 1, err);
    const char *from = later_reply_text(later_reply_at(reply, 0), NULL);
    int status = *from ? LATER_OK : LATER_E_NONE;
    struct jsonl json;

    if (!reply)
        return -1;
    if (!*from) {
        cli_say(cli, "no dead or delayed job %s in queue %s", id, keys->queue);
    } else if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", keys->queue);
        jsonl_text(&json, "id", id);
        jsonl_text(&json, "result", "kicked");
        jsonl_text(&json, "state", from);
        jsonl_end(&json);
    } else {
        table_text(table, PLAIN, id);
        table_text(table, PLAIN, from);
    }
    later_reply_free(reply);
    return status;
}

static int run_kick(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "KICKED", "WAS", NULL };
    struct later_keys keys;
    struct table table;
    int status = LATER_OK;

    if (args_flag(&cli->args, "all"))
        return kick_all(cli, err);
    if (args_text(&cli->args, "state"))
        return later_fail(err, LATER_E_USAGE, "--state goes with --all");
    if (cli_keys(cli, cli_queue(cli), &keys, err) < 0)
        return -1;
    cli_table(cli, &table, headings);
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = kick_one(cli, &table, &keys, cli->args.words[i], err);

        status = one != LATER_OK ? one : status;
    }
    table_end(&table);
    return status;
}

static const struct args_option kick_options[] = {
    { "queue", 'q', "Q", "of this queue (default)" },
    { "all", 'a', NULL, "all dead and delayed jobs of the queue Q" },
    { "state", 0, "STATE", "with --all: only dead, or only delayed" },
    { "yes", 'y', NULL, "do not ask" },
    { 0 },
};

const struct command command_kick = {
    .name = "kick",
    .usage = "ID... [-q Q] | --all Q [--state STATE] [--yes]",
    .brief = "Make dead or delayed jobs ready",
    .more = "A dead job begins anew: its attempts are forgotten.\n",
    .example = "later kick order-1138 -q mail\nlater kick --all mail --state dead --yes\n",
    .options = kick_options,
    .min = 1,
    .max = -1,
    .run = run_kick,
};

/* --- purge --- */

static int purge(struct cli *cli, const struct later_keys *keys, const char *state, uint64_t count,
                 uint64_t *purged, struct later_error *err)
{
    while (count > 0) {
        size_t limit = count < LATER_BATCH_MAX ? (size_t)count : LATER_BATCH_MAX;
        struct later_command cmd = { 0 };
        struct later_reply *reply;
        uint64_t gone;

        later_look_purge(&cmd, keys, state, limit);
        reply = cli_call_once(cli, &cmd, LATER_SCRIPT_PURGE, err);
        if (!reply)
            return -1;
        gone = (uint64_t)later_reply_int(reply);
        later_reply_free(reply);
        *purged += gone;
        if (gone < limit)
            break;
        count -= gone;
    }
    return 0;
}

static int run_purge(struct cli *cli, struct later_error *err)
{
    const char *state = args_text(&cli->args, "state");
    struct later_sizes sizes;
    struct later_keys keys;
    uint64_t count, purged = 0;
    char what[160];
    int status;

    if (!state)
        return later_fail(err, LATER_E_USAGE, "--state is missing: ready, delayed or dead");
    if (strcmp(state, "ready") != 0 && strcmp(state, "delayed") != 0 && strcmp(state, "dead") != 0)
        return later_fail(err, LATER_E_USAGE, "--state: %.40s is none of ready, delayed, dead",
                          state);
    if (cli_keys(cli, cli->args.words[0], &keys, err) < 0 ||
        queues_size(cli, &keys, &sizes, err) < 0)
        return -1;
    count = state[0] == 'r' ? sizes.ready : state[2] == 'a' ? sizes.dead : sizes.delayed;
    snprintf(what, sizeof what, "Drop %" PRIu64 " %s jobs of queue %s for good", count, state,
             keys.queue);
    status = count ? cli_ask(cli, what) : LATER_OK;
    if (status != LATER_OK)
        return status;
    if (purge(cli, &keys, state, count, &purged, err) < 0)
        status = -1;
    print_count(cli, keys.queue, "purged", purged);
    return status;
}

static const struct args_option purge_options[] = {
    { "state", 0, "STATE", "ready, delayed or dead" },
    { "yes", 'y', NULL, "do not ask" },
    { 0 },
};

const struct command command_purge = {
    .name = "purge",
    .usage = "Q --state STATE [--yes]",
    .brief = "Drop all jobs of a state for good",
    .more = "Those that were there at the beginning; it tells how many went.\n",
    .example = "later purge mail --state dead\n",
    .options = purge_options,
    .min = 1,
    .max = 1,
    .run = run_purge,
};

/* --- pause, resume --- */

static int set_pause(struct cli *cli, bool pause, struct later_error *err)
{
    enum later_script script = pause ? LATER_SCRIPT_PAUSE : LATER_SCRIPT_RESUME;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;
    struct jsonl json;

    if (cli_keys(cli, cli->args.words[0], &keys, err) < 0)
        return -1;
    later_look_plain(&cmd, &keys, script);
    reply = cli_call(cli, &cmd, script, err);
    if (!reply)
        return -1;
    if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", keys.queue);
        jsonl_bool(&json, "paused", pause);
        jsonl_bool(&json, "changed", later_reply_int(reply) > 0);
        jsonl_end(&json);
    } else if (later_reply_int(reply) == 0) {
        cli_say(cli, "queue %s was %spaused already", keys.queue, pause ? "" : "not ");
    }
    later_reply_free(reply);
    return LATER_OK;
}

static int run_pause(struct cli *cli, struct later_error *err)
{
    return set_pause(cli, true, err);
}

static int run_resume(struct cli *cli, struct later_error *err)
{
    return set_pause(cli, false, err);
}

const struct command command_pause = {
    .name = "pause",
    .usage = "Q",
    .brief = "Hand out no more jobs of a queue",
    .more = "What runs goes on, and pushing does. `later resume` ends it.\n",
    .example = "later pause mail\n",
    .min = 1,
    .max = 1,
    .run = run_pause,
};

const struct command command_resume = {
    .name = "resume",
    .usage = "Q",
    .brief = "End a pause",
    .example = "later resume mail\n",
    .min = 1,
    .max = 1,
    .run = run_resume,
};
