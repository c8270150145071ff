/* lock.c: encodes and decodes the calls of a distributed lock. */
#include "queue/lock.h"

#include "redis/key.h"
#include "redis/script.h"

#include <string.h>

enum { LINE = LATER_LOCK_WAKE + 1, LINE_DUE };

/* Begins a call with the keys of `which`, as many as the script's head has. */
#define LOCK_BEGIN(cmd, script, prefix, name, which)                                               \
    do {                                                                                           \
        LATER_SCRIPT_HAS(script, (sizeof(which) / sizeof(int)) - 1);                               \
        lock_begin(cmd, script, prefix, name, which);                                              \
    } while (0)

/* Begins a call. The keys are in the order of enum later_lock_key, and then its line; a script gets
 * those of `which`, which ends with -1. */
static void lock_begin(struct later_command *cmd, enum later_script script, const char *prefix,
                       const char *name, const int *which)
{
    char spelled[5][LATER_KEY_MAX];
    const char *keys[5];
    size_t count = 0;

    for (; which[count] >= 0; count++) {
        if (which[count] >= LINE)
            later_key_line(spelled[count], prefix, LATER_LINE_LOCK, name, which[count] == LINE_DUE);
        else
            later_key_lock(spelled[count], prefix, name, (enum later_lock_key)which[count]);
        keys[count] = spelled[count];
    }
    later_script_begin(cmd, script, NULL, keys, 0);
}

void later_lock_take(struct later_command *cmd, const char *prefix, const char *name,
                     const char *token, const char *owner, double ttl, const char *pass,
                     const char *waiter)
{
    static const int keys[] = { LATER_LOCK_ITSELF, LATER_LOCK_FENCE,
                                LATER_LOCK_WAKE,   LINE,
                                LINE_DUE,          -1 };

    LOCK_BEGIN(cmd, LATER_SCRIPT_LOCK_TAKE, prefix, name, keys);
    later_command_text(cmd, token);
    later_command_bytes(cmd, owner, strnlen(owner, LATER_LOCK_OWNER_MAX));
    later_command_seconds(cmd, ttl);
    later_command_text(cmd, pass ? pass : "");
    later_command_text(cmd, waiter);
}

enum later_lock_taken later_lock_taken(const struct later_reply *reply, uint64_t *fence,
                                       double *left)
{
    const struct later_reply *second = later_reply_at(reply, 1);

    if (later_reply_int(later_reply_at(reply, 0)) == 1) {
        if (fence)
            *fence = (uint64_t)later_reply_int(second);
        return LATER_LOCK_YES;
    }
    if (left)
        *left = later_reply_seconds(second, 0);
    return LATER_LOCK_NO;
}

void later_lock_touch(struct later_command *cmd, const char *prefix, const char *name,
                      const char *token, double ttl)
{
    static const int keys[] = { LATER_LOCK_ITSELF, -1 };

    LOCK_BEGIN(cmd, LATER_SCRIPT_LOCK_TOUCH, prefix, name, keys);
    later_command_text(cmd, token);
    later_command_seconds(cmd, ttl);
}

void later_lock_free(struct later_command *cmd, const char *prefix, const char *name,
                     const char *token)
{
    static const int keys[] = { LATER_LOCK_ITSELF, LATER_LOCK_WAKE, -1 };

    LOCK_BEGIN(cmd, LATER_SCRIPT_LOCK_FREE, prefix, name, keys);
    later_command_text(cmd, token);
}

bool later_lock_still(const struct later_reply *reply)
{
    return later_reply_int(reply) == 1;
}

void later_lock_look(struct later_command *cmd, const char *prefix, const char *name)
{
    static const int keys[] = { LATER_LOCK_ITSELF, LATER_LOCK_FENCE, -1 };

    LOCK_BEGIN(cmd, LATER_SCRIPT_LOCK_SHOW, prefix, name, keys);
}

void later_lock_seen(const struct later_reply *reply, struct later_lock_seen *seen)
{
    seen->held = later_reply_int(later_reply_at(reply, 0)) == 1;
    seen->left = later_reply_seconds(later_reply_at(reply, 1), 0);
    seen->owner = later_reply_text(later_reply_at(reply, 2), NULL);
    seen->since = later_reply_seconds(later_reply_at(reply, 3), 0);
    seen->ttl = later_reply_seconds(later_reply_at(reply, 4), 0);
    seen->fence = (uint64_t)later_reply_int(later_reply_at(reply, 5));
}

void later_lock_await(struct later_command *cmd, const char *prefix, const char *name,
                      double seconds)
{
    char key[LATER_KEY_MAX];

    later_key_lock(key, prefix, name, LATER_LOCK_WAKE);
    later_command_say(cmd, "BLPOP %s %f", key, seconds);
}

const char *later_lock_pass(const struct later_reply *reply)
{
    return later_reply_count(reply) == 2 ? later_reply_text(later_reply_at(reply, 1), NULL) : NULL;
}

void later_lock_wake(struct later_command *cmd, const char *prefix, const char *name,
                     const char *pass)
{
    static const int keys[] = { LATER_LOCK_ITSELF, LATER_LOCK_WAKE, -1 };

    LOCK_BEGIN(cmd, LATER_SCRIPT_LOCK_WAKE, prefix, name, keys);
    later_command_text(cmd, pass);
}

double later_lock_left(const struct later_reply *reply)
{
    return later_reply_seconds(reply, 0);
}
