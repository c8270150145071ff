/* kick.c: `later kick`. */
#include "commands.h"
#include "jobs/each.h"
#include "choose/many.h"

static int kick(struct cli *cli, const struct later_keys *keys, const char *id, const void *arg,
                char was[EACH_STATE], struct later_error *err)
{
    struct later_command cmd = { 0 };

    (void)arg;
    later_queue_ids(&cmd, LATER_SCRIPT_KICK, keys, &id, 1);
    return each_call(cli, &cmd, was, err);
}

static const struct each_verb kick_each = {
    .heading = "KICKED", .done = "kicked", .none = "no dead, delayed or waiting job", .fn = kick
};

static const struct many_verb kick_many = {
    .name = "kick",
    .done = "kicked",
    .ask = "Kick",
    .sets = { LATER_KEY_DEAD, LATER_KEY_DELAYED, LATER_KEY_WAITING, LATER_KEY_DONE },
    .set_count = 4,
};

static int kick_run(struct cli *cli, struct later_error *err)
{
    return each_or_many_run(cli, &kick_each, &kick_many, err);
}

static const struct args_option kick_options[] = {
    MANY_OPTIONS,
    { 0 },
};

const struct command command_kick = {
    .name = "kick",
    .usage = "ID... [-q Q] | -q Q CONDITIONS | -A CONDITIONS",
    .brief = "Make dead or delayed jobs ready",
    .more = "A dead job starts afresh: its attempts are forgotten. With --state done, jobs that "
            "are done\n"
            "and kept run again. In a pipe: id and former state; of many jobs, their "
            "number.\n" MANY_MORE,
    .example = "later kick order-1138\nlater kick -q mail --state dead --yes\n"
               "later kick -q mail --error 'smtp: 4[0-9][0-9]' --newer 1h --rate 50\n",
    .options = kick_options,
    .max = -1,
    .run = kick_run,
};
