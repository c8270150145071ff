/* bury.c: `later bury`. It buries waiting jobs by id or by conditions, and a reserved one by its
 * token. */
#include "commands.h"
#include "jobs/each.h"
#include "choose/many.h"
#include "work/settle.h"
#include "work/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct many_verb bury_many = {
    .name = "bury",
    .done = "buried",
    .ask = "Bury",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_WAITING },
    .set_count = 3,
};

/* Returns whether the job was there, or -1 with *err. */
static int bury_in(struct cli *cli, const struct later_keys *keys, enum later_key set,
                   const char *id, const char *error, struct later_error *err)
{
    struct later_acted job = { .id = id, .len = strlen(id), .score = "" };
    struct later_command cmd = { 0 };
    int there;

    later_inspect_act(&cmd, keys, "bury", later_key_name(set), "", error, &job, 1);
    there = (int)cli_count(cli_call_once(cli, &cmd, err));
    if (there > 0) /* it may have been adopted, so the queue must be known as after a push */
        later_call_announce(cli->client, keys);
    return there;
}

/* arg: the error. */
static int bury_bury(struct cli *cli, const struct later_keys *keys, const char *id,
                     const void *arg, char was[EACH_STATE], struct later_error *err)
{
    for (size_t s = 0; s < bury_many.set_count; s++) {
        int there = bury_in(cli, keys, bury_many.sets[s], id, arg, err);

        if (there < 0)
            return -1;
        if (there > 0) {
            snprintf(was, EACH_STATE, "%s", later_key_name(bury_many.sets[s]));
            return 0;
        }
    }
    return 0;
}

static const struct each_verb bury_each = { .heading = "BURIED",
                                            .done = "buried",
                                            .none = "no ready, delayed or waiting job",
                                            .fn = bury_bury };

static int bury_for(struct cli *cli, bool many, const char *error, struct later_error *err)
{
    struct many_verb verb = bury_many;
    struct later_error ignored;
    int status;

    verb.with = error;
    if (many)
        return many_run(cli, &verb, err);
    status = each_run(cli, &bury_each, error, err);
    if (status >= 0) /* only the announcement of the queue can fail now */
        (void)later_call_drain(cli->client, &ignored);
    return status;
}

/* With ids, --error is the reason; otherwise it is a condition. */
static int bury_run(struct cli *cli, struct later_error *err)
{
    int many = choose_is_asked(cli, true, err), status;
    const char *text = many ? NULL : args_text(&cli->args, "error");
    char *error;

    if (many < 0)
        return -1;
    if (many && args_text(&cli->args, "token"))
        return later_fail(err, LATER_E_USAGE, "--token goes with ids");
    if (args_text(&cli->args, "token"))
        return settle_bury(cli, err);
    error = take_error(LATER_ENDED_BURY, text ? text : "by hand");
    if (!error)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    status = bury_for(cli, many != 0, error, err);
    free(error);
    return status;
}

static const struct args_option bury_options[] = {
    MANY_OPTIONS,
    { "token", 0, "T", "reserved jobs, which this token owns" },
    { 0 },
};

const struct command command_bury = {
    .name = "bury",
    .usage = "ID... [-q Q] [--token T] [--error TEXT] | -q Q CONDITIONS | -A CONDITIONS",
    .brief = "Make jobs dead: another attempt cannot help",
    .more =
        "Takes waiting jobs or, with their owner's token (else status 77), reserved ones. Beside "
        "ids\n"
        "--error is the reason, which `later show` prints; otherwise it is a condition. In a "
        "pipe: id\n"
        "and former state; for many jobs, their number.\n" MANY_MORE,
    .example = "later bury order-1138 --token 0k3v9x2m5t8w1q7z --error 'no such address'\n"
               "later bury order-1138 order-1139 -q mail --error 'customer is gone'\n"
               "later bury -q mail --type 'newsletter.*' --state ready\n",
    .options = bury_options,
    .max = -1,
    .run = bury_run,
};
