/* settle.h: settles reserved jobs by hand; here is what `later bury` needs of it. */
#ifndef LATER_CLI_SETTLE_H
#define LATER_CLI_SETTLE_H

#include "cli.h"

/* Has the word the form of a token? */
bool settle_is_token(const char *word);

/* The command with the words Q ID TOKEN and the option --error. */
int settle_bury(struct cli *cli, struct later_error *err);

#endif
