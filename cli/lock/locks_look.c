/* locks_look.c: reads what is known of one lock, permit or limit. */
#include "lock/locks_look.h"

#include "queue/inspect.h"
#include "queue/lock.h"

#include <stdio.h>
#include <string.h>

#define LINE_MOST 1000

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

/* Of the waiters first … end, all of one queue: which of them are still in `delayed`? Others have
 * been cancelled, kicked or buried since. */
static int look_in_delayed(const struct asking *asking, struct held *held, size_t first, size_t end,
                           struct later_error *err)
{
    const char *waiter = later_reply_text(later_reply_at(held->line, first), NULL);
    char queue[LATER_QUEUE_MAX + 1];
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_keys keys;

    snprintf(queue, sizeof queue, "%.*s", (int)strcspn(waiter, " "), waiter);
    if (!waiter[strcspn(waiter, " ")] || !later_key_shard_valid(queue))
        return 0; /* another program's */
    later_keys_init(&keys, asking->prefix, queue);
    later_inspect_scores(&cmd, &keys, LATER_KEY_DELAYED, end - first);
    for (size_t i = first; i < end; i++)
        later_command_text(&cmd,
                           strchr(later_reply_text(later_reply_at(held->line, i), NULL), ' ') + 1);
    reply = cli_call(asking->cli, &cmd, err);
    for (size_t i = first; reply && i < end; i++) {
        if (!*later_reply_text(later_reply_at(reply, i - first), NULL))
            continue;
        held->waiting++;
        if (held->named < LOCKS_WAITERS)
            held->waiters[held->named++] = later_reply_text(later_reply_at(held->line, i), NULL);
    }
    later_reply_free(reply);
    return reply ? 0 : -1;
}

/* Where the waiters of the same queue end. */
static size_t same_queue(const struct held *held, size_t first)
{
    const char *waiter = later_reply_text(later_reply_at(held->line, first), NULL);
    size_t end = first + 1, len = strcspn(waiter, " ");

    while (waiter[len] && end < later_reply_count(held->line) &&
           strncmp(later_reply_text(later_reply_at(held->line, end), NULL), waiter, len + 1) == 0)
        end++;
    return end;
}

/* The first LINE_MOST of a line are looked at; those after them are taken at its word. */
static int look_at_line(const struct asking *asking, struct held *held, struct later_error *err)
{
    struct later_command count = { 0 }, first = { 0 };
    size_t looked, end;
    int64_t all;

    later_held_waiting(&count, asking->prefix, held->kind, held->name);
    later_held_waiters(&first, asking->prefix, held->kind, held->name, LINE_MOST);
    if (ask_number(asking, &count, &all, err) < 0)
        return -1;
    held->line = cli_call(asking->cli, &first, err);
    looked = later_reply_count(held->line);
    for (size_t i = 0; held->line && i < looked; i = end) {
        end = same_queue(held, i);
        if (look_in_delayed(asking, held, i, end, err) < 0)
            return -1;
    }
    held->waiting += all > (int64_t)looked ? all - (int64_t)looked : 0;
    return held->line ? 0 : -1;
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
    later_reply_free(held->line);
}
