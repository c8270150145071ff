/*
 * hosts.h: the daemons that have announced themselves.
 */
#ifndef LATER_CLI_HOSTS_H
#define LATER_CLI_HOSTS_H

#include "cli.h"
#include "status/served.h"

/* Prints them, those not seen for a while as gone. Returns how many there are. */
int hosts_print(struct cli *cli, const struct served *served);

#endif
