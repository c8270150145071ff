/*
 * busiest.h: of thousands of queues, those whose history is worth reading.
 */
#ifndef LATER_CLI_BUSIEST_H
#define LATER_CLI_BUSIEST_H

#include "cli.h"
#include "queue_list.h"

/* Leaves in the list the `most` queues that have had the most attempts, in the order of the list;
 * without attempts none is left. A list that is no longer stays as it is, and costs nothing;
 * otherwise the totals of each queue are read, many per round trip. Returns 0, or -1 with *err. */
int busiest_choose(struct cli *cli, struct queue_list *list, size_t most, struct later_error *err);

#endif
