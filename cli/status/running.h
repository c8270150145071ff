/*
 * running.h: shows the progress of running jobs that report it.
 */
#ifndef LATER_CLI_RUNNING_H
#define LATER_CLI_RUNNING_H

#include "queue_list.h"
#include "status/served.h"

/* Prints some of them. Only those of these queues are looked at of which a daemon has just reported
 * running jobs. Returns 0, or -1 with *err. */
int running_print(struct cli *cli, const struct queue_list *list, const struct served *served,
                  struct later_error *err);

#endif
