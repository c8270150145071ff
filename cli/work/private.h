/*
 * private.h: `later work --lines`: a laterd of its own for one program, as long as the command
 * runs.
 *
 * Its configuration and its state are in a temporary folder, which goes when it ends. What the
 * program gets is what laterd's plugin exec gives to programs with `lines` (later-job(3)).
 */
#ifndef LATER_CLI_PRIVATE_H
#define LATER_CLI_PRIVATE_H

#include "cli.h"

/* Runs the command. Returns laterd's exit status: 0 if it was told to stop or nothing is left;
 * LATER_E_USAGE after options that do not go together; or -1 with *err. */
int private_run(struct cli *cli, struct later_error *err);

#endif
