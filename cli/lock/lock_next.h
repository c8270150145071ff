/*
 * lock_next.h: the jobs that wait for a lock, called by who gives it back.
 */
#ifndef LATER_CLI_LOCK_NEXT_H
#define LATER_CLI_LOCK_NEXT_H

#include "cli.h"

/* Has the job that waits longest for the lock `name`, which is free now, due at once. Best effort:
 * a job that is not called looks again by itself, within two seconds. */
void lock_call_next(struct cli *cli, const char *name);

#endif
