/* act.c: `later kick` and `later purge`. */
#include "commands.h"
#include "jobs/each.h"
#include "jobs/many.h"
#include "jobs/members.h"

#include <inttypes.h>
#include <stdio.h>

/* --- kick --- */

static int kick(struct cli *cli, const struct later_keys *keys, const char *id, const char *error,
                char was[EACH_STATE], struct later_error *err)
{
    struct later_command cmd = { 0 };

    (void)error;
    later_queue_ids(&cmd, LATER_SCRIPT_KICK, keys, &id, 1);
    return each_call(cli, &cmd, was, err);
}

static const struct each_verb kick_each = {
    .heading = "KICKED", .done = "kicked", .none = "no dead or delayed job", .fn = kick
};

static const struct many_verb kick_verb = {
    .name = "kick",
    .done = "kicked",
    .ask = "Kick",
    .ask_end = "",
    .sets = { LATER_KEY_DEAD, LATER_KEY_DELAYED },
    .set_count = 2,
};

static int run_kick(struct cli *cli, struct later_error *err)
{
    if (args_flag(&cli->args, "all") || choose_is_asked(cli, "")) {
        choose_take_queue(cli);
        return many_run(cli, &kick_verb, err);
    }
    return each_run(cli, &kick_each, NULL, err);
}

static const struct args_option kick_options[] = {
    { "queue", 'q', "Q", "of this queue (default)" },
    { "all", 'a', NULL, "all dead and delayed jobs of the queue Q" },
    MANY_OPTIONS,
    { 0 },
};

const struct command command_kick = {
    .name = "kick",
    .usage = "ID... [-q Q] | --all Q | Q CONDITIONS | --all-queues CONDITIONS",
    .brief = "Make dead or delayed jobs ready",
    .more =
        "A dead job starts afresh: its attempts are forgotten. In a pipe: id and former state; of\n"
        "many jobs, their number.\n" MANY_MORE,
    .example = "later kick order-1138 -q mail\nlater kick --all mail --state dead --yes\n"
               "later kick mail --error 'smtp: 4[0-9][0-9]' --newer 1h --rate 50\n",
    .options = kick_options,
    .max = -1,
    .run = run_kick,
};

/* --- purge --- */

/* A purge without conditions, which need not look at the jobs first. */
struct purging {
    struct cli *cli;
    enum later_key set;
    struct pace pace; /* lets ^C end it */
    struct progress progress;
    uint64_t purged, sum;
};

static int purge(struct purging *purging, const struct later_keys *keys, uint64_t count,
                 struct later_error *err)
{
    while (count > 0 && pace_count(&purging->pace, 0)) {
        size_t limit = count < LATER_BATCH_MAX ? (size_t)count : LATER_BATCH_MAX;
        struct later_command cmd = { 0 };
        int64_t gone;

        later_inspect_purge(&cmd, keys, later_key_name(purging->set), limit);
        gone = cli_count(cli_call_once(purging->cli, &cmd, err));
        if (gone < 0)
            return -1;
        purging->purged += (uint64_t)gone;
        progress_jobs(&purging->progress, purging->purged, purging->sum);
        if ((uint64_t)gone < limit)
            break;
        count -= (uint64_t)gone;
    }
    return 0;
}

/* Counts the jobs in each part. Returns the sum, or -1 with *err. */
static int64_t count_each(struct cli *cli, const struct whole *whole, enum later_key set,
                          uint64_t *counts, struct later_error *err)
{
    int64_t all = 0;

    for (size_t i = 0; i < whole->count; i++) {
        int64_t count = members_count(cli, &whole->parts[i], set, err);

        if (count < 0)
            return -1;
        counts[i] = (uint64_t)count;
        all += count;
    }
    return all;
}

static int purge_whole(struct purging *purging, const struct whole *whole, const uint64_t *counts,
                       struct later_error *err)
{
    int ok = 0;

    for (size_t i = 0; ok == 0 && i < whole->count; i++)
        ok = purge(purging, &whole->parts[i], counts[i], err);
    progress_hide(&purging->progress);
    cli_print_count(purging->cli, NULL, whole->name, "purged", "purged", purging->purged);
    if (ok == 0 && purging->pace.stopped) {
        cli_say(purging->cli, "stopped: %" PRIu64 " of %" PRIu64 " purged", purging->purged,
                purging->sum);
        return LATER_E_LATER;
    }
    return ok;
}

static int ask_and_purge(struct purging *purging, struct later_error *err)
{
    uint64_t counts[LATER_WHOLE_MAX];
    struct whole whole;
    char what[160];
    int64_t sum;
    int status;

    if (whole_find(purging->cli, purging->cli->args.words[0], &whole, err) < 0)
        return -1;
    sum = count_each(purging->cli, &whole, purging->set, counts, err);
    if (sum < 0)
        return -1;
    if (!pace_count(&purging->pace, 0)) {
        cli_say(purging->cli, "stopped; nothing was done");
        return LATER_E_LATER;
    }
    purging->sum = (uint64_t)sum;
    snprintf(what, sizeof what, "Drop %" PRIu64 " %s jobs of queue %s for good", purging->sum,
             later_key_name(purging->set), whole.name);
    pace_pause(&purging->pace);
    status = purging->sum ? cli_ask(purging->cli, what) : LATER_OK;
    pace_go_on(&purging->pace);
    return status == LATER_OK ? purge_whole(purging, &whole, counts, err) : status;
}

static const struct many_verb purge_verb = {
    .name = "purge",
    .done = "purged",
    .ask = "Drop",
    .ask_end = " for good",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_DEAD },
    .set_count = 3,
};

static int run_purge(struct cli *cli, struct later_error *err)
{
    struct purging purging = { .cli = cli };
    int status;

    if (choose_state(cli, &purging.set, err) < 0)
        return -1;
    if (choose_is_asked(cli, "state") || args_flag(&cli->args, "dry-run") ||
        args_text(&cli->args, "rate"))
        return many_run(cli, &purge_verb, err);
    if (cli->args.count != 1)
        return later_fail(err, LATER_E_USAGE, "name one queue");
    if (pace_begin(&purging.pace, cli, 0, err) < 0)
        return -1;
    progress_begin(&purging.progress, cli->err_terminal, 0);
    status = ask_and_purge(&purging, err);
    pace_end(&purging.pace);
    return status;
}

static const struct args_option purge_options[] = {
    MANY_OPTIONS,
    { 0 },
};

const struct command command_purge = {
    .name = "purge",
    .usage = "Q --state STATE [CONDITIONS] | --all-queues --state STATE [CONDITIONS]",
    .brief = "Drop the jobs of a state for good",
    .more = "Only jobs that were there at the beginning are dropped. Prints how many.\n" MANY_MORE,
    .example = "later purge mail --state dead\nlater purge mail --state dead --older 30d --yes\n",
    .options = purge_options,
    .max = 1,
    .run = run_purge,
};
