/* lock.h: what the files of `later lock` share. */
#ifndef LATER_CLI_LOCK_H
#define LATER_CLI_LOCK_H

#include "cli.h"

#define LOCK_NO_PROGRAM 127
#define LOCK_SIGNALLED  128 /* plus the signal's number */

struct lock_order {
    const char *name;
    double ttl, wait; /* seconds; wait may be INFINITY */
    int busy;         /* the exit status if the lock is taken by others */
    char *const *program;
};

/* In lock_run.c: runs a program under a lock. Takes the lock, renews it while the program runs,
 * ends the program if the lock is lost, gives it back. Returns the program's exit status, or:
 * - LOCK_SIGNALLED plus a signal's number, if the signal ended the program, or us while we waited;
 * - LOCK_NO_PROGRAM;
 * - `busy`, after saying so;
 * - LATER_E_TOKEN or LATER_E_REDIS if the lock was lost, after saying so;
 * - -1 with *err, if the lock could not be asked for. */
int lock_run(struct cli *cli, const struct lock_order *order, struct later_error *err);

/* In locks.c: lists the locks, permits and limits in use. It goes through the names of all keys.
 * Returns as a command does. */
int locks_run(struct cli *cli, struct later_error *err);

#endif
