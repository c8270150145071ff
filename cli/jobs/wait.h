/*
 * wait.h: waiting for a job's result, and telling it.
 */
#ifndef LATER_CLI_WAIT_H
#define LATER_CLI_WAIT_H

#include "cli.h"

#include "client/wait.h"

/* Tells how a job has ended: its value on standard output, else words. Returns the exit status: 0
 * done, 65 dead, 66 gone, 75 goes on. */
int wait_tell(struct cli *cli, const char *queue, const char *id, const struct later_end *end);

/* The value of an option for how long to wait: INFINITY where it has none ("" or not given). 0, or
 * -1 with *err. */
int wait_option(const struct cli *cli, const char *option, double *seconds,
                struct later_error *err);

#endif
