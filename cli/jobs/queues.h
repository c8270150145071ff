/*
 * queues.h: the sizes of queues.
 */
#ifndef LATER_CLI_QUEUES_H
#define LATER_CLI_QUEUES_H

#include "queue/inspect.h"
#include "queue_list.h"
#include "status/served.h"

/* Reads the sizes of one part of a queue. Returns 0, or -1 with *err. */
int queues_size(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
                struct later_error *err);

/* Adds up the sizes of a queue, part by part. The sum is paused if all parts are. Returns 0, or -1
 * with *err. */
int queues_size_whole(struct cli *cli, const struct whole *whole, struct later_sizes *sum,
                      struct later_error *err);

/* Prints the sizes of these queues. served: who serves them; NULL = not known. Returns 0;
 * LATER_E_NONE if a queue that was named is unknown, after saying so; or -1 with *err. */
int queues_print(struct cli *cli, const struct queue_list *list, const struct served *served,
                 struct later_error *err);

#endif
