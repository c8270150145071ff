/* act.c: `later kick` and `later purge`. */
#include "commands.h"
#include "jobs/each.h"
#include "jobs/many.h"

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
    if (args_flag(&cli->args, "all") || choose_is_asked(cli, ""))
        return choose_take_queue(cli, err) < 0 ? -1 : many_run(cli, &kick_verb, err);
    return choose_refuse_alone(cli, err) < 0 ? -1 : each_run(cli, &kick_each, NULL, err);
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

static const struct many_verb purge_verb = {
    .name = "purge",
    .done = "purged",
    .ask = "Drop",
    .ask_end = " for good",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_DEAD, LATER_KEY_DONE },
    .set_count = 4,
    .brisk = true,
};

static int run_purge(struct cli *cli, struct later_error *err)
{
    enum later_key set;

    return choose_state(cli, &set, err) < 0 ? -1 : many_run(cli, &purge_verb, err);
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
