/*
 * queue_list.h: the names of the queues that a command works on.
 */
#ifndef LATER_CLI_QUEUE_LIST_H
#define LATER_CLI_QUEUE_LIST_H

#include "whole.h"

/* Zero it first. Free it even if it could not be filled. */
struct queue_list {
    later_queue_name *names; /* owned */
    size_t count, room;
};

/* Lists the queues of the command line, or, if it names none, all that Redis knows, in order.
 * Shards are not listed apart from their queue. Returns 0, or -1 with *err. */
int queue_list_find(struct cli *cli, struct queue_list *list, struct later_error *err);

/* Adds a name at the end. Returns 0, or -1 with *err if there is no memory. */
int queue_list_add(struct queue_list *list, const char *name, struct later_error *err);

bool queue_list_has(const struct queue_list *list, const char *name);

/* Add all names that Redis knows, in order, each once: every shard by itself. Return 0, or -1 with
 * *err. */
int queue_list_each(struct cli *cli, struct queue_list *list, struct later_error *err);

/* Lists all queues that Redis knows, whatever the command line names. */
int queue_list_known(struct cli *cli, struct queue_list *list, struct later_error *err);

/* Lists the queue of -q, or, without it, all that Redis knows. */
int queue_list_asked(struct cli *cli, struct queue_list *list, struct later_error *err);

/* Lists the same as queue_list_find(), but with each queue's shards after it: those of its plan,
 * and, if the command line names no queue, others that Redis knows. */
int queue_list_parts(struct cli *cli, struct queue_list *list, struct later_error *err);

/* Lists the queues and shards that have keys but are not in *known, with a SCAN of one node's keys.
 * Returns 0, or -1 with *err: LATER_E_TOKEN if the rights do not allow it. */
int queue_list_strays(struct cli *cli, const struct queue_list *known, struct queue_list *list,
                      struct later_error *err);

void queue_list_free(struct queue_list *list);

/* For a command that has found nothing where the command line told it to look: says so if Redis
 * knows no queue of that name (`no queue mial; did you mean mail?`), and nothing if it does, if
 * queue is NULL, or if Redis cannot be asked. The exit status stays that of an empty queue. */
void queue_list_warn(struct cli *cli, const char *queue);

#endif
