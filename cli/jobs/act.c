/* act.c: `later kick` and `purge`. */
#include "commands.h"
#include "output/jsonl.h"
#include "queue/inspect.h"
#include "queue/queue.h"
#include "jobs/queues.h"

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

    later_inspect_range(&cmd, keys, state, 0, most < PAGE ? most - 1 : PAGE - 1);
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

static int kick_whole(struct cli *cli, const struct whole *whole, enum later_key state,
                      const struct later_sizes *each, uint64_t *kicked, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < whole->count; i++)
        ok = kick_state(cli, &whole->parts[i], state,
                        state == LATER_KEY_DEAD ? each[i].dead : each[i].delayed, kicked, err);
    return ok;
}

static int kick_all(struct cli *cli, struct later_error *err)
{
    const char *state = args_text(&cli->args, "state");
    struct later_sizes each[LATER_WHOLE_MAX], sum;
    struct whole whole;
    uint64_t kicked = 0;
    char what[160];
    int status;

    if (state && strcmp(state, "dead") != 0 && strcmp(state, "delayed") != 0)
        return later_fail(err, LATER_E_USAGE, "--state: %.40s is none of dead, delayed", state);
    if (cli->args.count != 1)
        return later_fail(err, LATER_E_USAGE, "--all takes one queue");
    if (whole_find(cli, cli->args.words[0], &whole, err) < 0 ||
        queues_size_whole(cli, &whole, each, &sum, err) < 0)
        return -1;
    if (state && strcmp(state, "dead") == 0)
        sum.delayed = 0;
    else if (state)
        sum.dead = 0;
    snprintf(what, sizeof what, "Kick %" PRIu64 " dead and %" PRIu64 " delayed jobs of queue %s",
             sum.dead, sum.delayed, whole.name);
    status = sum.dead + sum.delayed ? cli_ask(cli, what) : LATER_OK;
    if (status != LATER_OK)
        return status;
    if (sum.dead)
        status = kick_whole(cli, &whole, LATER_KEY_DEAD, each, &kicked, err);
    if (status == 0 && sum.delayed)
        status = kick_whole(cli, &whole, LATER_KEY_DELAYED, each, &kicked, err);
    print_count(cli, whole.name, "kicked", kicked);
    return status;
}

/* Kicks it where it is. from (16 bytes) gets the state it had, "" where it is nowhere. */
static int kick_somewhere(struct cli *cli, const struct whole *whole, const char *id, char *from,
                          struct later_error *err)
{
    const struct later_keys *places[LATER_WHOLE_MAX];
    size_t count = whole_places(whole, id, places);

    from[0] = '\0';
    for (size_t i = 0; i < count && !*from; i++) {
        struct later_reply *reply = kick(cli, places[i], &id, 1, err);

        if (!reply)
            return -1;
        snprintf(from, 16, "%.15s", later_reply_text(later_reply_at(reply, 0), NULL));
        later_reply_free(reply);
    }
    return 0;
}

static int kick_one(struct cli *cli, struct table *table, const struct whole *whole, const char *id,
                    struct later_error *err)
{
    struct jsonl json;
    char from[16];

    if (kick_somewhere(cli, whole, id, from, err) < 0)
        return -1;
    if (!*from) {
        cli_say(cli, "no dead or delayed job %s in queue %s", id, whole->name);
    } else if (cli->json) {
        jsonl_begin(&json, stdout);
        jsonl_text(&json, "queue", whole->name);
        jsonl_text(&json, "id", id);
        jsonl_text(&json, "result", "kicked");
        jsonl_text(&json, "state", from);
        jsonl_end(&json);
    } else {
        table_text(table, PLAIN, id);
        table_text(table, PLAIN, from);
    }
    return *from ? LATER_OK : LATER_E_NONE;
}

static int run_kick(struct cli *cli, struct later_error *err)
{
    static const char *const headings[] = { "KICKED", "WAS", NULL };
    struct whole whole;
    struct table table;
    int status = LATER_OK;

    if (args_flag(&cli->args, "all"))
        return kick_all(cli, err);
    if (args_text(&cli->args, "state"))
        return later_fail(err, LATER_E_USAGE, "--state goes with --all");
    if (whole_find(cli, cli_queue(cli), &whole, err) < 0)
        return -1;
    cli_table(cli, &table, headings);
    for (int i = 0; i < cli->args.count && status >= 0; i++) {
        int one = kick_one(cli, &table, &whole, cli->args.words[i], err);

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
    .more = "A dead job begins anew: its attempts are forgotten. In a pipe: id, the state that it "
            "had;\nwith --all the number of jobs.\n",
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

        later_inspect_purge(&cmd, keys, state, limit);
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

static uint64_t size_of(const struct later_sizes *sizes, const char *state)
{
    return state[0] == 'r' ? sizes->ready : state[2] == 'a' ? sizes->dead : sizes->delayed;
}

static int purge_whole(struct cli *cli, const struct whole *whole, const char *state,
                       const struct later_sizes *each, uint64_t *purged, struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < whole->count; i++)
        ok = purge(cli, &whole->parts[i], state, size_of(&each[i], state), purged, err);
    return ok;
}

static int run_purge(struct cli *cli, struct later_error *err)
{
    const char *state = args_text(&cli->args, "state");
    struct later_sizes each[LATER_WHOLE_MAX], sum;
    struct whole whole;
    uint64_t count, purged = 0;
    char what[160];
    int status;

    if (!state)
        return later_fail(err, LATER_E_USAGE, "--state is missing: ready, delayed or dead");
    if (strcmp(state, "ready") != 0 && strcmp(state, "delayed") != 0 && strcmp(state, "dead") != 0)
        return later_fail(err, LATER_E_USAGE, "--state: %.40s is none of ready, delayed, dead",
                          state);
    if (whole_find(cli, cli->args.words[0], &whole, err) < 0 ||
        queues_size_whole(cli, &whole, each, &sum, err) < 0)
        return -1;
    count = size_of(&sum, state);
    snprintf(what, sizeof what, "Drop %" PRIu64 " %s jobs of queue %s for good", count, state,
             whole.name);
    status = count ? cli_ask(cli, what) : LATER_OK;
    if (status != LATER_OK)
        return status;
    status = purge_whole(cli, &whole, state, each, &purged, err);
    print_count(cli, whole.name, "purged", purged);
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
