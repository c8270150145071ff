/*
 * check_ahead.h: asks for what the check of a small queue needs, for many queues at once.
 */
#ifndef LATER_CLI_CHECK_AHEAD_H
#define LATER_CLI_CHECK_AHEAD_H

#include "ahead.h"
#include "queue_list.h"

#define CHECK_TOGETHER 64 /* queues */

/* Fills ahead[0] … ahead[count - 1], which are zeroed, for `count` (at most CHECK_TOGETHER) queues,
 * in two round trips. Those of larger queues stay empty, since their check takes long, and its
 * numbers should be of one moment. */
void check_ahead(struct cli *cli, const later_queue_name *queues, size_t count,
                 struct ahead *ahead);

#endif
