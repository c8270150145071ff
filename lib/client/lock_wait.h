/*
 * lock_wait.h: takes a lock, and waits for it without polling, first come first served.
 *
 * While it waits, the caller is blocked in Redis on a second connection, which is its place in the
 * queue. If that connection is lost, so is the place. On the first connection it checks whether the
 * owner has died: when the owner's time is over, and about every two seconds; on average at most
 * once a second, however short the ttl.
 */
#ifndef LATER_LOCK_WAIT_H
#define LATER_LOCK_WAIT_H

#include "later/client.h"
#include "queue/lock.h"

/* The lock that is wanted. All is borrowed for the call. */
struct later_lock_wish {
    const char *name;  /* later_key_name_valid(), else LATER_E_USAGE */
    const char *token; /* later_token(), new each time */
    const char *owner; /* for people */
    double ttl;        /* seconds, LATER_LOCK_TTL_MIN … LATER_LOCK_TTL_MAX, else LATER_E_USAGE */
    double wait;       /* seconds; 0 = try once; INFINITY = as long as it takes */
    int stop;          /* a descriptor: when it is readable, give up; -1 = none */
};

struct later_locked {
    uint64_t fence; /* the fencing number */
    double since;   /* later_clock() before the take was sent: the lock is ours until since + ttl */
};

/* Takes a lock. Returns LATER_LOCK_YES, with *locked; LATER_LOCK_NO if it was not free within
 * `wait`, or `stop` became readable; or -1 with *err as later_call(). If Redis goes away while we
 * wait, we wait for it as well. If it cannot be reached at first, or at the end of the wait, that
 * is an error. Blocks for at most `wait` and the time of one call (client/call.h: the client's
 * timeout, and once more if it must connect first). If the last answer was lost, nobody knows
 * whether the lock was taken: then it ends by its ttl, or by a later_lock_free() of the token. */
int later_lock_wait(struct later_client *client, const struct later_lock_wish *wish,
                    struct later_locked *locked, struct later_error *err);

#endif
