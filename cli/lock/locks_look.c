/* locks_look.c: reads what is known of one lock, permit or limit. */
#include "lock/locks_look.h"

#include "queue/lock.h"

struct asking {
    struct cli *cli;
    const char *prefix;
    double now;
};

/* Reads a number, 0 if there is none. Returns 0, or -1 with *err. */
static int ask_number(const struct asking *asking, struct later_command *cmd, int64_t *number,
                      struct later_error *err)
{
    struct later_reply *reply = cli_call(asking->cli, cmd, err);

    *number = later_reply_int(reply);
    later_reply_free(reply);
    return reply ? 0 : -1;
}

static int look_at_lock(const struct asking *asking, struct held *held, struct later_error *err)
{
    struct later_command cmd = { 0 };
    struct later_lock_seen seen;

    later_lock_look(&cmd, asking->prefix, held->name);
    held->lock = cli_call(asking->cli, &cmd, err);
    if (!held->lock)
        return -1;
    later_lock_seen(held->lock, &seen);
    held->count = seen.held;
    held->fence = seen.fence;
    if (seen.held) {
        held->left = seen.left;
        held->since = seen.since;
        held->owner = seen.owner;
    }
    return 0;
}

static int look_at_permit(const struct asking *asking, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };
    struct later_reply *reply;

    later_held_holders(&count, asking->prefix, held->name, asking->now);
    if (ask_number(asking, &count, &held->count, err) < 0)
        return -1;
    later_held_first_end(&first, asking->prefix, held->name, asking->now);
    reply = cli_call(asking->cli, &first, err);
    if (!reply)
        return -1;
    if (later_reply_count(reply) == 2)
        held->left = later_reply_seconds(later_reply_at(reply, 1), asking->now) - asking->now;
    later_reply_free(reply);
    return 0;
}

static int look_at_limit(const struct asking *asking, struct held *held, struct later_error *err)
{
    struct later_command used = { 0 }, left = { 0 }, oldest = { 0 };
    struct later_reply *reply;
    int64_t ms;

    later_held_used(&used, asking->prefix, held->kind, held->name);
    later_held_left(&left, asking->prefix, held->name);
    if (ask_number(asking, &used, &held->count, err) < 0 || ask_number(asking, &left, &ms, err) < 0)
        return -1;
    held->left = ms < 0 ? -1 : (double)ms / 1000;
    if (held->kind == LATER_HELD_FIXED)
        return 0;
    later_held_oldest(&oldest, asking->prefix, held->name);
    reply = cli_call(asking->cli, &oldest, err);
    if (!reply)
        return -1;
    held->since = later_reply_seconds(reply, -1);
    later_reply_free(reply);
    return 0;
}

static int look_at_line(const struct asking *asking, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };

    if (held->kind != LATER_HELD_LOCK && held->kind != LATER_HELD_PERMIT)
        return 0;
    later_held_waiting(&count, asking->prefix, held->kind, held->name, asking->now);
    if (ask_number(asking, &count, &held->waiting, err) < 0)
        return -1;
    later_held_waiters(&first, asking->prefix, held->kind, held->name, asking->now, LOCKS_WAITERS);
    held->waiters = cli_call(asking->cli, &first, err);
    return held->waiters ? 0 : -1;
}

int locks_look(struct cli *cli, double now, struct held *held, struct later_error *err)
{
    const struct asking whom = { cli, later_call_prefix(cli->client), now };
    const struct asking *asking = &whom;
    int ok;

    held->left = held->since = -1;
    held->owner = "";
    ok = held->kind == LATER_HELD_LOCK     ? look_at_lock(asking, held, err)
         : held->kind == LATER_HELD_PERMIT ? look_at_permit(asking, held, err)
                                           : look_at_limit(asking, held, err);
    return ok < 0 ? -1 : look_at_line(asking, held, err);
}

void locks_forget(struct held *held)
{
    later_reply_free(held->lock);
    later_reply_free(held->waiters);
}
