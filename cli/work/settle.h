/* settle.h: settles reserved jobs by hand; here is what `later bury` needs of it. */
#ifndef LATER_CLI_SETTLE_H
#define LATER_CLI_SETTLE_H

#include "cli.h"

/* Buries the jobs of the command line, which the token of --token owns, with the text of --error.
 * Returns as each_run(). */
int settle_bury(struct cli *cli, struct later_error *err);

#endif
