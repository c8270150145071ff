/*
 * check_saved.h: can the searches that are saved (choose/saved.h) be used?
 */
#ifndef LATER_CLI_CHECK_SAVED_H
#define LATER_CLI_CHECK_SAVED_H

#include "cli.h"
#include "queue_list.h"

/* Tells each saved search that `later search` would refuse, and each that is of a queue which is
 * not among these, in a line of JSON or a row of the table. No job depends on them, so this breaks
 * nothing. Returns 0, or -1 with *err. What the rights do not show counts as none. */
int check_saved(struct cli *cli, const struct queue_list *queues, struct table *table,
                struct later_error *err);

#endif
