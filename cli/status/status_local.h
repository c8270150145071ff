/*
 * status_local.h: is the laterd on this host well? Asks no Redis, takes no time.
 */
#ifndef LATER_CLI_STATUS_LOCAL_H
#define LATER_CLI_STATUS_LOCAL_H

#include "cli.h"

/* As a command's function: 0 if it is well, LATER_E_REDIS if not. */
int status_local(struct cli *cli, struct later_error *err);

#endif
