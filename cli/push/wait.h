/*
 * wait.h: waits for a job's result and prints it.
 */
#ifndef LATER_CLI_WAIT_H
#define LATER_CLI_WAIT_H

#include "cli.h"

#include "client/wait.h"

/* Prints how a job has ended: its value on standard output, or a message. queue: NULL if it is in
 * none. Returns the exit status: 0 done, 65 dead, 66 gone, 75 not ended. */
int wait_tell(struct cli *cli, const char *queue, const char *id, const struct later_end *end);

/* Reads how long to wait from an option. If it has no value ("" or not given) the result is
 * INFINITY. Returns 0, or -1 with *err. */
int wait_option(const struct cli *cli, const char *option, double *seconds,
                struct later_error *err);

#endif
