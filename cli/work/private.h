/*
 * private.h: a laterd of `later work`'s own, for one program, as long as the command runs.
 *
 * Its configuration and its state are in a temporary folder, which goes when it ends. What the
 * program gets is what laterd's plugin exec gives to programs (later-job(3)).
 */
#ifndef LATER_CLI_PRIVATE_H
#define LATER_CLI_PRIVATE_H

#include "work/private_config.h"

/* Runs it. Returns laterd's exit status: 0 if it was told to stop or nothing is left; or -1 with
 * *err. */
int private_run(struct private_laterd *own, struct later_error *err);

#endif
