/*
 * queues.h: the queues there are, and their sizes.
 */
#ifndef LATER_CLI_QUEUES_H
#define LATER_CLI_QUEUES_H

#include "cli.h"
#include "look.h"

/* Some queues' names in order. Zero it first. */
struct queue_list {
    const char **names; /* owned; the strings are words of argv or of the reply */
    size_t count;
    struct later_reply *reply; /* owned */
};

/* The queues named on the command line, or, where it names none, all that Redis knows of. Returns
 * 0, or -1 with *err. */
int queues_find(struct cli *cli, struct queue_list *list, struct later_error *err);
void queues_free(struct queue_list *list);

/* A queue at this moment. Returns 0, or -1 with *err. */
int queues_size(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
                struct later_error *err);

/* Prints the sizes of these queues. Returns 0, or -1 with *err. */
int queues_print(struct cli *cli, const struct queue_list *list, struct later_error *err);

#endif
