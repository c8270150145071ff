/*
 * sizes.h: reads how many jobs many queues have, in few round trips.
 *
 *     struct sized *sized = …;                 zeroed, each with its name
 *     sizes_ask(cli, sized, count, false, &err);
 *
 * Shards are added up. If a queue refuses, its `err` says so, and the other queues are still right.
 * If the connection broke before a queue was asked, its `err` is as the caller left it.
 */
#ifndef LATER_CLI_SIZES_H
#define LATER_CLI_SIZES_H

#include "history/history.h"
#include "queue/inspect.h"
#include "whole.h"

/* A queue and its sizes. sizes_ask() sets all but the first two members. */
struct sized {
    const char *name; /* of a queue or a shard; borrowed */
    /* The results of its attempts are added to it; NULL = not wanted. */
    struct later_tallies *totals;
    struct later_plan plan;
    struct later_sizes sizes; /* `jobs` is only set with `exact` */
    /* How many queues it is, with its shards; how many of them are paused. */
    uint32_t parts, paused;
    bool fair;              /* jobs of groups are ready; not looked at with `exact` */
    double still;           /* seconds since it was seen to change; 0 = not known (kept.h) */
    struct later_error err; /* the first refusal; code 0 = none */
};

/* Asks about all of them. exact: one script per queue, which sees a single moment; otherwise by
 * plain commands, which cost less (queue/glance.h), and less again with cli->kept. now: Redis's
 * clock a moment ago, not needed if `exact`. Returns 0, or -1 with *err if the connection is lost.
 */
int sizes_ask(struct cli *cli, struct sized *sized, size_t count, bool exact, double now,
              struct later_error *err);

/* Returns the sum of the counters: 0 if the queue never had a job. */
uint64_t sizes_traces(const struct later_sizes *sizes);

/* Reads the sizes of one part of a queue. Returns 0, or -1 with *err. */
int sizes_part(struct cli *cli, const struct later_keys *keys, struct later_sizes *sizes,
               struct later_error *err);

/* Adds up the sizes of a queue, part by part. The sum is paused if all parts are. Returns 0, or -1
 * with *err. */
int sizes_whole(struct cli *cli, const struct whole *whole, struct later_sizes *sum,
                struct later_error *err);

/* Adds a part's sizes to those of its queue, except `paused`. */
void sizes_add(struct later_sizes *sum, const struct later_sizes *part);

#endif
