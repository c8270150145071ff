/*
 * gather.h: the state of all queues and daemons for metrics, in few round trips and without a look
 * at any job.
 */
#ifndef LATER_CLI_GATHER_H
#define LATER_CLI_GATHER_H

#include "cli.h"
#include "history/history.h"
#include "queue/inspect.h"
#include "queue_list.h"

#define GATHER_COUNTERS 15

/* The counters of `stats` that metrics have: "pushed" … */
extern const char *const gather_counters[GATHER_COUNTERS];

/* A queue, its shards added up. */
struct gathered_queue {
    const char *name; /* of the list */
    bool failed;      /* Redis did not say all of it */
    struct later_sizes sizes;
    uint32_t parts, paused; /* how many, and of them paused */
    uint64_t counters[GATHER_COUNTERS];
    struct later_plan plan;
    struct later_tallies totals;
    uint64_t running; /* jobs, as the daemons say */
};

struct gathered {
    struct queue_list list;
    struct gathered_queue *queues; /* one for each of the list */
    uint64_t hosts, workers, running;
    struct later_tallies besides; /* later:totals */
};

/* Reads all of it. Zero it first, and gather_free() it in any case. Returns 0; or -1 with *err:
 * some of it is missing (`failed`), or all. */
int gather(struct cli *cli, struct gathered *gathered, struct later_error *err);
void gather_free(struct gathered *gathered);

#endif
