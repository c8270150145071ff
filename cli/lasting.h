/*
 * lasting.h: what an operator does that lasts: who it was, and for how long.
 */
#ifndef LATER_CLI_LASTING_H
#define LATER_CLI_LASTING_H

#include "cli.h"

#define LASTING_WHO 65 /* bytes of a name, with its NUL */

/* Who is said to have done it: --by, or else the login name; who ran `sudo`, if that is known. "":
 * nobody knows. It is a word. */
void lasting_who(const struct cli *cli, char who[LASTING_WHO]);

/* Reads --for, a millisecond to a year; without it *seconds stays. Returns 0, or -1 with *err. */
int lasting_for(const struct cli *cli, double *seconds, struct later_error *err);

#endif
