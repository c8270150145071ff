/* cancel.c: `later cancel`. */
#include "jobs/cancel.h"

#include "commands.h"
#include "jobs/each.h"
#include "jobs/find.h"
#include "choose/many.h"
#include "choose/members.h"
#include "queue/queue.h"

#include <string.h>

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

/* `state` becomes the state that the job had, or "" if there is none. */
static int cancel_one(struct cli *cli, const struct later_keys *keys, const char *id,
                      const void *arg, char state[EACH_STATE], struct later_error *err)
{
    int ok = cancel_as(cli, keys, id, "", state, err);

    (void)arg;
    for (int i = 0; ok == 0 && !*state && i < TRIES; i++) {
        char token[LATER_TOKEN_LEN + 1];

        ok = members_token_of(cli, keys, id, token, err);
        if (ok == 0)
            ok = cancel_as(cli, keys, id, token, state, err);
    }
    return ok;
}

/* Cancels jobs, and leaves in the list those that were not found. Returns how many were, or -1 with
 * *err. */
static int64_t cancel_known(struct cli *cli, const struct later_keys *keys, const char *token,
                            const char **ids, size_t *count, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    size_t asked = *count;

    later_queue_cancel(&cmd, keys, token, ids, asked);
    reply = cli_call_once(cli, &cmd, err);
    if (!reply)
        return -1;
    *count = 0;
    for (size_t i = 0; i < asked; i++) {
        if (!*later_reply_text_at(reply, i))
            ids[(*count)++] = ids[i];
    }
    later_reply_free(reply);
    return (int64_t)(asked - *count);
}

/* Does a token hold one of the jobs? Returns -1 with *err. */
static int cancel_is_held(struct cli *cli, const struct later_keys *keys, const char *token,
                          const char *const *ids, size_t count, struct later_error *err)
{
    struct later_reply *held = members_held(cli, keys, token, err);
    int found = held ? 0 : -1;

    for (size_t i = 0; found == 0 && i < later_reply_count(held); i++) {
        for (size_t k = 0; found == 0 && k < count; k++)
            found = strcmp(later_reply_text_at(held, i), ids[k]) == 0;
    }
    later_reply_free(held);
    return found;
}

/* Looks for them among those that run, and then where they were. As cancel_known(). */
static int64_t cancel_running(struct cli *cli, const struct later_keys *keys, const char **ids,
                              size_t *count, struct later_error *err)
{
    struct later_reply *tokens;
    int64_t all = 0, some = members_tokens(cli, keys, &tokens, err);

    for (size_t i = 0; some >= 0 && *count > 0 && i < later_reply_count(tokens) / 2; i++) {
        some = cancel_is_held(cli, keys, members_token(tokens, i), ids, *count, err);
        if (some > 0)
            some = cancel_known(cli, keys, members_token(tokens, i), ids, count, err);
        all += some;
    }
    later_reply_free(tokens);
    if (some >= 0 && *count > 0) {
        some = cancel_known(cli, keys, "", ids, count, err);
        all += some;
    }
    return some < 0 ? -1 : all;
}

int64_t cancel_some(struct cli *cli, const struct later_keys *keys, const char *const *ids,
                    size_t count, struct later_error *err)
{
    const char *left[LATER_BATCH_MAX];
    int64_t all, some;

    memcpy(left, ids, count * sizeof *left);
    all = some = cancel_known(cli, keys, "", left, &count, err);
    for (int i = 0; some >= 0 && count > 0 && i < TRIES; i++) {
        some = cancel_running(cli, keys, left, &count, err);
        all += some;
    }
    return some < 0 ? -1 : all;
}

static const struct each_verb cancel_each = { .heading = "CANCELLED",
                                              .done = "cancelled",
                                              .freed = "freed",
                                              .none = "no job",
                                              .find = FIND_TAKEN,
                                              .fn = cancel_one };

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
    return each_or_many_run(cli, &cancel_each, &cancel_many, err);
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
