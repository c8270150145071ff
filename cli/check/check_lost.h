/*
 * check_lost.h: has a laterd noticed that Redis has lost writes (lib's queue/lost.h)?
 */
#ifndef LATER_CLI_CHECK_LOST_H
#define LATER_CLI_CHECK_LOST_H

#include "cli.h"
#include "queue_list.h"

/* Tells each loss of these queues (NULL: of all) in a line of JSON or a row of the table. Returns
 * LATER_OK if there is none, 1 if there is one, or -1 with *err. What the rights do not show counts
 * as none. */
int check_lost(struct cli *cli, const struct queue_list *queues, struct table *table,
               struct later_error *err);

#endif
