/*
 * sizes.h: how many jobs many queues have, in few round trips.
 *
 *     struct sized *sized = …;                 zeroed, each with its name
 *     sizes_ask(cli, sized, count, false, &err);
 *
 * Shards are added up. What some of them refuse is in `err` of theirs; the others are right. Of one
 * that was not asked, since the connection broke before, `err` is as the caller has left it.
 */
#ifndef LATER_CLI_SIZES_H
#define LATER_CLI_SIZES_H

#include "cli.h"
#include "history/history.h"
#include "queue/inspect.h"

/* A queue, and what was answered: all but the first two are set by sizes_ask(). */
struct sized {
    const char *name;             /* of a queue or of a shard; borrowed */
    struct later_tallies *totals; /* what became of its attempts is added; NULL: not asked for */
    struct later_plan plan;
    struct later_sizes sizes; /* `jobs` only if `exact` */
    uint32_t parts, paused;   /* with its shards how many queues it is, and how many are paused */
    struct later_error err;   /* of the first refusal; code 0: none */
};

/* Asks for all of them. exact: each by a script, of one moment; else by plain commands, which cost
 * less (queue/glance.h). now: Redis's clock, of a moment ago; not needed if `exact`. Returns 0, or
 * -1 with *err where the connection is gone. */
int sizes_ask(struct cli *cli, struct sized *sized, size_t count, bool exact, double now,
              struct later_error *err);

/* Adds a part's sizes to those of a whole, but for `paused`. */
void sizes_add(struct later_sizes *sum, const struct later_sizes *part);

#endif
