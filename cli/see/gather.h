/*
 * gather.h: reads the state of all queues and daemons for metrics, in few round trips and without
 * looking at any job.
 */
#ifndef LATER_CLI_GATHER_H
#define LATER_CLI_GATHER_H

#include "queue_list.h"
#include "queues/groups.h"
#include "sizes.h"

/* Queues and types that are shown as histograms, which take 6 KB each. */
#define GATHER_HISTOGRAMS_MAX 1000
#define GATHER_GROUPS         20 /* groups of a queue that are shown, those with most ready jobs */
#define GATHER_SHARED         50 /* queues with groups, the first by name, whose groups are read */

/* A queue with its shards added up. */
struct gathered_queue {
    const struct sized *sized;
    struct later_tallies totals;
    uint64_t running;  /* running jobs, as reported by the daemons */
    size_t histograms; /* how many rows of `totals` are shown as histograms */
    struct group_list groups;
};

struct gathered {
    struct queue_list list;
    struct gathered_queue *queues; /* one for each queue of the list */
    struct sized *sized;
    uint64_t hosts, workers;
    struct later_tallies besides; /* from later:totals */
    size_t left_out;              /* rows of `totals` that are not shown as histograms */
};

/* Zero *gathered first, and always gather_free() it. Returns 0; or -1 with *err, if some queues are
 * missing (`sized->err`) or everything is. */
int gather(struct cli *cli, struct gathered *gathered, struct later_error *err);
void gather_free(struct gathered *gathered);

#endif
