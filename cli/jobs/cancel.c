/* cancel.c: `later cancel`. */
#include "jobs/cancel.h"

#include "commands.h"
#include "jobs/each.h"
#include "jobs/find.h"
#include "choose/many.h"
#include "choose/members.h"
#include "queue/queue.h"

#define TRIES 3 /* a job may change its state between the search and the call */

/* Calls the script once. token: the one that holds the job, or "". *state becomes the state that
 * the job had, or "" if nothing was cancelled. */
static int cancel_as(struct cli *cli, const struct later_keys *keys, const char *id,
                     const char *token, char state[EACH_STATE], struct later_error *err)
{
    struct later_command cmd = { 0 };

    later_queue_cancel(&cmd, keys, token, &id, 1);
    return each_call(cli, &cmd, state, err);
}

int cancel_one(struct cli *cli, const struct later_keys *keys, const char *id,
               char state[EACH_STATE], struct later_error *err)
{
    int ok = cancel_as(cli, keys, id, "", state, err);

    for (int i = 0; ok == 0 && !*state && i < TRIES; i++) {
        char token[LATER_TOKEN_LEN + 1];

        ok = members_token_of(cli, keys, id, token, err);
        if (ok == 0)
            ok = cancel_as(cli, keys, id, token, state, err);
    }
    return ok;
}

static int cancel_cancel(struct cli *cli, const struct later_keys *keys, const char *id,
                         const void *arg, char state[EACH_STATE], struct later_error *err)
{
    (void)arg;
    return cancel_one(cli, keys, id, state, err);
}

static const struct each_verb cancel_each = { .heading = "CANCELLED",
                                              .done = "cancelled",
                                              .freed = "freed",
                                              .none = "no job",
                                              .missing = LATER_E_NONE,
                                              .find = FIND_TAKEN,
                                              .fn = cancel_cancel };

/* Done jobs are dropped only if --state asks for them. */
static const struct many_verb cancel_many = {
    .name = "cancel",
    .done = "cancelled",
    .ask = "Cancel",
    .ask_end = " for good",
    .sets = { LATER_KEY_READY, LATER_KEY_DELAYED, LATER_KEY_RESERVED, LATER_KEY_DEAD,
              LATER_KEY_WAITING, LATER_KEY_DONE },
    .set_count = 6,
    .brisk = true,
};

static int cancel_run(struct cli *cli, struct later_error *err)
{
    int many = choose_is_asked(cli, false, err);

    if (many < 0)
        return -1;
    return many ? many_run(cli, &cancel_many, err) : each_run(cli, &cancel_each, NULL, err);
}

static const struct args_option cancel_options[] = {
    MANY_OPTIONS,
    { 0 },
};

const struct command command_cancel = {
    .name = "cancel",
    .usage = "ID... [-q Q] | -q Q CONDITIONS | -A CONDITIONS",
    .brief = "Drop jobs, whatever their state",
    .more = "If a job is running, its reservation is withdrawn: its handler is told, and its "
            "result is\n"
            "refused. An id that --unique-for keeps taken is freed. In a pipe: id and former "
            "state; of\n"
            "many jobs, their number. With --state as the only condition it is quick.\n" MANY_MORE,
    .example = "later cancel order-1138\nlater cancel -q mail --state dead\n"
               "later cancel -q mail --where payload.tenant=42 --dry-run\n",
    .options = cancel_options,
    .max = -1,
    .run = cancel_run,
};
