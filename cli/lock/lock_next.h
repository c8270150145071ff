/*
 * lock_next.h: when a lock is given back, calls the next job that waits for it.
 */
#ifndef LATER_CLI_LOCK_NEXT_H
#define LATER_CLI_LOCK_NEXT_H

#include "cli.h"

/* Makes the job that has waited longest for the free lock `name` due at once. Best effort: a job
 * that is not called looks again by itself within two seconds. */
void lock_call_next(struct cli *cli, const char *name);

#endif
