/* bury.c: `later bury`. It buries waiting jobs by id or by conditions, and a reserved one by its
 * token. */
#include "commands.h"
#include "jobs/each.h"
#include "jobs/many.h"
#include "work/settle.h"
#include "work/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct many_verb verb = {
    .name = "bury",
    .done = "buried",
    .ask = "Bury",
    .ask_end = "",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED },
    .set_count = 2,
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

static int bury(struct cli *cli, const struct later_keys *keys, const char *id, const char *error,
                char was[EACH_STATE], struct later_error *err)
{
    for (size_t s = 0; s < verb.set_count; s++) {
        int there = bury_in(cli, keys, verb.sets[s], id, error, err);

        if (there < 0)
            return -1;
        if (there > 0) {
            snprintf(was, EACH_STATE, "%s", later_key_name(verb.sets[s]));
            return 0;
        }
    }
    return 0;
}

static const struct each_verb each = {
    .heading = "BURIED", .done = "buried", .none = "no ready or delayed job", .fn = bury
};

static int bury_ids(struct cli *cli, struct later_error *err)
{
    const char *text = args_text(&cli->args, "error");
    char *error = take_error(LATER_ENDED_BURY, text ? text : "by hand");
    struct later_error ignored;
    int status;

    if (!error)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    status = each_run(cli, &each, error, err);
    if (status >= 0) /* only the announcement of the queue can fail now */
        (void)later_call_drain(cli->client, 0, &ignored);
    free(error);
    return status;
}

/* With ids, --error is the reason, as it is for a reserved job. Without, it can only be a
 * condition. */
static int run(struct cli *cli, struct later_error *err)
{
    bool no_id = cli->args.count == 0;

    if (choose_is_asked(cli, "error") || (no_id && args_text(&cli->args, "error")))
        return choose_take_queue(cli, err) < 0 ? -1 : many_run(cli, &verb, err);
    if (choose_refuse_alone(cli, err) < 0)
        return -1;
    if (cli->args.count == 3 && !args_text(&cli->args, "queue") &&
        settle_is_token(cli->args.words[2]))
        return settle_bury(cli, err);
    return bury_ids(cli, err);
}

static const struct args_option options[] = {
    { "queue", 'q', "Q", "of this queue (default)" },
    MANY_OPTIONS,
    { 0 },
};

const struct command command_bury = {
    .name = "bury",
    .usage = "Q ID TOKEN [--error TEXT] | ID... [-q Q] [--error TEXT] | Q CONDITIONS",
    .brief = "Make jobs dead: another attempt cannot help",
    .more =
        "Takes a reserved job with its owner's token (else status 77), or waiting jobs. --error "
        "is\n"
        "the reason, which `later show` prints. With other conditions, or if no job is named, it "
        "is\n"
        "a condition.\n"
        "In a pipe: id and former state; for many jobs, their number.\n" MANY_MORE,
    .example = "later bury mail order-1138 0k3v9x2m5t8w1q7z --error 'no such address'\n"
               "later bury order-1138 -q mail --error 'customer is gone'\n"
               "later bury mail --type 'newsletter.*' --state ready\n",
    .options = options,
    .max = -1,
    .run = run,
};
