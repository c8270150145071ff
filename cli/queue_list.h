/*
 * queue_list.h: the names of queues that a command is about.
 */
#ifndef LATER_CLI_QUEUE_LIST_H
#define LATER_CLI_QUEUE_LIST_H

#include "whole.h"

/* Some queues' names. Zero it first; free it even where it could not be filled. */
struct queue_list {
    later_queue_name *names; /* owned */
    size_t count, room;
};

/* The queues named on the command line, or, where it names none, all that Redis knows of, in order;
 * of a queue with shards the whole. Returns 0, or -1 with *err. */
int queue_list_find(struct cli *cli, struct queue_list *list, struct later_error *err);

/* All that Redis knows of, whatever the command line names. */
int queue_list_known(struct cli *cli, struct queue_list *list, struct later_error *err);

/* The same as queue_list_find(), but each with its shards behind it: those of its plan and, where
 * the command line names no queue, those that Redis knows of beyond it. */
int queue_list_parts(struct cli *cli, struct queue_list *list, struct later_error *err);

/* The queues, and shards, of which there are keys and that are not in *known, by a SCAN of one
 * node's keys. Returns 0, or -1 with *err: LATER_E_TOKEN where the rights do not allow it. */
int queue_list_strays(struct cli *cli, const struct queue_list *known, struct queue_list *list,
                      struct later_error *err);

void queue_list_free(struct queue_list *list);

#endif
