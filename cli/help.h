/* help.h: the list of commands, and what each of them says of itself. */
#ifndef LATER_CLI_HELP_H
#define LATER_CLI_HELP_H

#include "cli.h"

#include <stdio.h>

/* They print the list of commands in its groups; one command's help; the usage line. */
void help_all(FILE *out);
void help_command(FILE *out, const struct command *command);
void help_usage(FILE *out, const struct command *command);

#endif
