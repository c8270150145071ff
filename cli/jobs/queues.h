/*
 * queues.h: the sizes of queues.
 */
#ifndef LATER_CLI_QUEUES_H
#define LATER_CLI_QUEUES_H

#include "queue/inspect.h"
#include "queue_list.h"
#include "status/served.h"

/* One part of a queue at this moment. Returns 0, or -1 with *err. */
int queues_size(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
                struct later_error *err);

/* A whole queue, part after part: what each has into each[], which may be NULL, and their sum,
 * which is paused where all parts are. Returns how many are paused, or -1 with *err. */
int queues_size_whole(struct cli *cli, const struct whole *whole,
                      struct later_sizes each[LATER_WHOLE_MAX], struct later_sizes *sum,
                      struct later_error *err);

/* Prints the sizes of these queues; served: who serves them, NULL = nobody knows. Returns 0;
 * LATER_E_NONE where one that was named is unknown, which was said; or -1 with *err. */
int queues_print(struct cli *cli, const struct queue_list *list, const struct served *served,
                 struct later_error *err);

#endif
