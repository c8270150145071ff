/*
 * hosts.h: the daemons that have announced themselves.
 */
#ifndef LATER_CLI_HOSTS_H
#define LATER_CLI_HOSTS_H

#include "cli.h"

/* Prints them, those not seen for a while as gone. Returns how many, or -1 with *err. */
int hosts_print(struct cli *cli, struct later_error *err);

#endif
