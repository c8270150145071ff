/* count.h: `later search --count`. */
#ifndef LATER_CLI_COUNT_H
#define LATER_CLI_COUNT_H

#include "cli.h"

/* Counts the jobs that meet the conditions, in the queue of -q or with -A in each. Returns as a
 * command does. */
int count_run(struct cli *cli, struct later_error *err);

#endif
