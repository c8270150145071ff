/*
 * server.h: `later status --server`: the Redis servers that have our keys.
 */
#ifndef LATER_CLI_SERVER_H
#define LATER_CLI_SERVER_H

#include "cli.h"

/* Prints what each says of itself, the newest of its slow log, with `keys` how many keys of each
 * kind it has, and what is wrong with it. Returns the exit status, or -1 with *err. Two commands a
 * server, one more for lost writes; with `keys` up to ten more. */
int server_print(struct cli *cli, bool keys, struct later_error *err);

#endif
