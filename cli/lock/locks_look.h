/*
 * locks_look.h: what is known of one lock, permit or limit: who has it, since when, how long still,
 * who waits. Asked for by several commands: it may have changed between two of them.
 */
#ifndef LATER_CLI_LOCKS_LOOK_H
#define LATER_CLI_LOCKS_LOOK_H

#include "cli.h"
#include "queue/held.h"

#define LOCKS_WAITERS 10 /* that are named */

/* What is told of one. Replies are borrowed from. */
struct held {
    enum later_held kind;
    char name[LATER_HELD_NAME];
    int64_t count, waiting;
    double left, since; /* seconds, UNIX time; < 0 = not known */
    const char *owner;  /* "" = not known */
    uint64_t fence;     /* 0 = none */
    struct later_reply *lock, *waiters;
};

/* Finds out about the one of this kind and name; all else is filled in. now: by Redis's clock.
 * Returns 0, or -1 with *err; locks_forget() is due in any case. */
int locks_look(struct cli *cli, double now, struct held *held, struct later_error *err);
void locks_forget(struct held *held);

#endif
