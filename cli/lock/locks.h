/* locks.h: the locks, permits and limits in use. */
#ifndef LATER_CLI_LOCKS_H
#define LATER_CLI_LOCKS_H

#include "cli.h"

/* Lists them. It goes through the names of all keys. Returns as a command does. */
int locks_run(struct cli *cli, struct later_error *err);

#endif
