/*
 * running.h: how far the jobs have come that run now, and say so.
 */
#ifndef LATER_CLI_RUNNING_H
#define LATER_CLI_RUNNING_H

#include "queue_list.h"
#include "status/served.h"

/* Prints a few of them, of these queues: where some daemon said lately that it runs any. Returns 0,
 * or -1 with *err. */
int running_print(struct cli *cli, const struct queue_list *list, const struct served *served,
                  struct later_error *err);

#endif
