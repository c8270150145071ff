/* settle.h: `later bury` of a job that is reserved. */
#ifndef LATER_CLI_SETTLE_H
#define LATER_CLI_SETTLE_H

#include "cli.h"

/* May this be a token? */
bool settle_is_token(const char *word);

/* The command with the words Q ID TOKEN, and --error. */
int settle_bury(struct cli *cli, struct later_error *err);

#endif
