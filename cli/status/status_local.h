/*
 * status_local.h: is the laterd on this host well? It asks no Redis and returns at once.
 */
#ifndef LATER_CLI_STATUS_LOCAL_H
#define LATER_CLI_STATUS_LOCAL_H

#include "cli.h"

/* A command's function: 0 if laterd is well, LATER_E_REDIS if not. */
int status_local(struct cli *cli, struct later_error *err);

#endif
