/*
 * locks_look.h: reads what is known of one lock, permit or limit: who has it, since when, for how
 * long, who waits. It takes several commands, and things may change in between.
 */
#ifndef LATER_CLI_LOCKS_LOOK_H
#define LATER_CLI_LOCKS_LOOK_H

#include "cli.h"
#include "queue/held.h"

#define LOCKS_WAITERS 10 /* how many are named */

/* One lock, permit or limit. It borrows from the replies. */
struct held {
    enum later_held kind;
    char name[LATER_HELD_NAME];
    int64_t count, waiting;
    double left, since; /* seconds; UNIX time; < 0 = not known */
    const char *owner;  /* "" = not known */
    uint64_t fence;     /* 0 = none */
    struct later_reply *lock, *line;
    const char *waiters[LOCKS_WAITERS]; /* the first of those that wait */
    size_t named;
};

/* Set kind and name; this fills in the rest. now: Redis's clock. Returns 0, or -1 with *err.
 * locks_forget() is due in both cases. */
int locks_look(struct cli *cli, double now, struct held *held, struct later_error *err);
void locks_forget(struct held *held);

#endif
