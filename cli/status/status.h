/* status.h: what the files of `later status` share. */
#ifndef LATER_CLI_STATUS_H
#define LATER_CLI_STATUS_H

#include "queue_list.h"
#include "status/served.h"

/* --- running.c: the progress of running jobs that report it */

/* Prints some of them. Only those of these queues are looked at of which a daemon has just reported
 * running jobs. Returns 0, or -1 with *err. */
int running_print(struct cli *cli, const struct queue_list *list, const struct served *served,
                  struct later_error *err);

/* --- server.c: the Redis servers that have our keys: --server */

/* Prints what each says of itself, the newest of its slow log, with `keys` how many keys of each
 * kind it has, and what is wrong with it. Returns the exit status, or -1 with *err. Two commands a
 * server, one more for lost writes; with `keys` up to ten more. */
int server_print(struct cli *cli, bool keys, struct later_error *err);

/* --- status_local.c: is the laterd on this host well? It asks no Redis and returns at once */

/* A command's function: 0 if laterd is well, LATER_E_REDIS if not. */
int status_local(struct cli *cli, struct later_error *err);

#endif
