/*
 * gather.h: the state of all queues and daemons for metrics, in few round trips and without a look
 * at any job.
 */
#ifndef LATER_CLI_GATHER_H
#define LATER_CLI_GATHER_H

#include "queue_list.h"
#include "sizes.h"

/* A queue, its shards added up. */
struct gathered_queue {
    const struct sized *sized;
    struct later_tallies totals;
    uint64_t running; /* jobs, as the daemons say */
};

struct gathered {
    struct queue_list list;
    struct gathered_queue *queues; /* one for each of the list */
    struct sized *sized;
    uint64_t hosts, workers, running;
    struct later_tallies besides; /* later:totals */
};

/* Reads all of it. Zero it first, and gather_free() it in any case. Returns 0; or -1 with *err:
 * some of it is missing (`sized->err`), or all. */
int gather(struct cli *cli, struct gathered *gathered, struct later_error *err);
void gather_free(struct gathered *gathered);

#endif
