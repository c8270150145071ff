/*
 * lock_run.h: a program under a lock: taking it, keeping it while the program runs, ending the
 * program when it is lost, giving it back.
 */
#ifndef LATER_CLI_LOCK_RUN_H
#define LATER_CLI_LOCK_RUN_H

#include "cli.h"

#define LOCK_NO_PROGRAM 127
#define LOCK_SIGNALLED  128 /* and the signal's number */

struct lock_order {
    const char *name;
    double ttl, wait; /* seconds; wait may be INFINITY */
    int busy;         /* the status where the lock is not to be had */
    char *const *program;
};

/* Returns the program's own status; LOCK_SIGNALLED and more where a signal ended it, or us while we
 * waited; LOCK_NO_PROGRAM; `busy`, having said so; LATER_E_TOKEN or LATER_E_REDIS where the lock
 * was lost, having said so; or -1 with *err where it could not be asked for. */
int lock_run(struct cli *cli, const struct lock_order *order, struct later_error *err);

#endif
