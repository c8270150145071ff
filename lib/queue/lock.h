/*
 * lock.h: a distributed lock: encoders and decoders like queue.h; keys are not a queue's. To wait
 * for a lock: lock_wait.h.
 *
 *     char token[LATER_TOKEN_LEN + 1];          a new one for each taking: it is the ownership
 *     later_token(token);
 *     later_lock_take(&cmd, prefix, name, token, "host pid 7", 30, NULL);
 *     reply = later_call(client, &cmd, 0, true, err);
 *     if (later_lock_taken(reply, &fence, &left) == LATER_LOCK_YES) …
 *
 * If an answer was lost, all calls but later_lock_free() may be repeated (`repeat` of
 * later_call()): take says yes to the same token again, with the same fencing number. A free may be
 * sent again, too, but its NO may then be due to the first one.
 *
 * The owner renews by later_lock_touch() every third of the ttl. It has lost the lock if that
 * answers NO. It must also assume so when its own monotonic clock says that the ttl has passed
 * since it sent the last take or touch that was answered YES.
 *
 * The fencing number grows each time this lock is taken. If whatever the lock guards refuses
 * numbers lower than one that it has seen, an owner that was stopped for longer than its ttl, and
 * does not know it, does no harm.
 *
 * We keep no list of waiting clients. Redis keeps those that are blocked in BLPOP on the lock's
 * wake list, in the order in which they came. free leaves a pass there, with which the first of
 * them takes the lock; for two seconds nobody else can (scripts/inc/pass.lua).
 */
#ifndef LATER_LOCK_H
#define LATER_LOCK_H

#include "redis/command.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stdint.h>

#define LATER_LOCK_OWNER_MAX 250  /* bytes; more is cut */
#define LATER_LOCK_TTL_MIN   0.01 /* seconds; the scripts take a tenth of it */
#define LATER_LOCK_TTL_MAX   1e9

enum later_lock_taken { LATER_LOCK_NO = 0, LATER_LOCK_YES = 1 };

/* name: valid (later_key_name_valid). token: later_token(). owner: for people who ask `later lock
 * --show`. ttl: seconds. pass: what the wake list gave, or NULL. waiter: a job (queue, a space,
 * id), which goes after those that are in the line before it (permit.h); "" = not a job.
 * LATER_SCRIPT_LOCK_TAKE. */
void later_lock_take(struct later_command *cmd, const char *prefix, const char *name,
                     const char *token, const char *owner, double ttl, const char *pass,
                     const char *waiter);

/* Was it taken? YES: *fence gets the fencing number, from 1. NO: *left gets the seconds after which
 * the owner loses it unless it is renewed. Either may be NULL. */
enum later_lock_taken later_lock_taken(const struct later_reply *reply, uint64_t *fence,
                                       double *left);

/* Keeps it for ttl seconds from now. LATER_SCRIPT_LOCK_TOUCH. */
void later_lock_touch(struct later_command *cmd, const char *prefix, const char *name,
                      const char *token, double ttl);

/* Gives it back to the client that has waited longest; `token` may be a pass that is not wanted any
 * more. LATER_SCRIPT_LOCK_FREE. */
void later_lock_free(struct later_command *cmd, const char *prefix, const char *name,
                     const char *token);

/* Of a touch: is it still ours? Of a free: was it ours until now? */
bool later_lock_still(const struct later_reply *reply);

/* Who has it? LATER_SCRIPT_LOCK_SHOW. */
void later_lock_look(struct later_command *cmd, const char *prefix, const char *name);

struct later_lock_seen {
    bool held;         /* if not, the next three are 0 and "" */
    double left;       /* seconds until it is lost, if it is not renewed */
    double since, ttl; /* UNIX time; seconds */
    const char *owner; /* borrowed from the reply */
    uint64_t fence;    /* the last fencing number given; 0 = none yet */
};
void later_lock_seen(const struct later_reply *reply, struct later_lock_seen *seen);

/* --- for those who wait (lock_wait.c; a loop of one's own) --- */

/* Encodes BLPOP on the wake list. While it blocks, at most `seconds` (0 = for ever), the client has
 * its place in the queue. On a connection of its own. */
void later_lock_await(struct later_command *cmd, const char *prefix, const char *name,
                      double seconds);

/* Returns the pass that BLPOP answered, borrowed from the reply; NULL: its time is over. */
const char *later_lock_pass(const struct later_reply *reply);

/* If the lock has expired without being given back, wakes the first in the queue. pass: a new
 * token. LATER_SCRIPT_LOCK_WAKE. */
void later_lock_wake(struct later_command *cmd, const char *prefix, const char *name,
                     const char *pass);

/* Returns the seconds until the next look is useful, from the answer to later_lock_wake(). */
double later_lock_left(const struct later_reply *reply);

#endif
