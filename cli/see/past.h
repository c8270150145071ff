/*
 * past.h: reads a range of a queue's history, many periods per round trip; of thousands of queues
 * finds those whose history is worth reading.
 */
#ifndef LATER_CLI_PAST_H
#define LATER_CLI_PAST_H

#include "cli.h"
#include "history/history.h"
#include "queue_list.h"

/* A range of whole periods of one scale. With `until`, the last one ends before it;
 * otherwise it is the present period. */
struct past_range {
    enum later_scale scale;
    int64_t first, last;
    double from,
        to; /* UNIX seconds: the beginning of the first period; now, or the end of the last one */
};

/* Finds the range of the last `seconds`, by Redis's clock, without the last `until` of them (0: up
 * to now). A range until then and one of the last `until` seconds have no period in common, if both
 * are of one scale. With the scale LATER_SCALES, the finest one that reaches back far enough is
 * used. Opens the client. Returns 0, or -1 with *err. */
int past_range(struct cli *cli, double seconds, double until, enum later_scale scale,
               struct past_range *range, struct later_error *err);

/* Calls fn for each period, in order, with what all laterds counted in it. fn may take over the
 * tallies (and zero them). queue: its name without a shard. Returns 0, or -1 with *err. */
int past_read(struct cli *cli, const char *queue, const struct past_range *range,
              void (*fn)(void *arg, int64_t period, struct later_tallies *tallies), void *arg,
              struct later_error *err);

/* Leaves in the list the `most` queues that have had the most attempts, in the order of the list;
 * without attempts none is left. A list that is no longer stays as it is, and costs nothing;
 * otherwise the totals of each queue are read, many per round trip. Returns 0, or -1 with *err. */
int past_choose_busiest(struct cli *cli, struct queue_list *list, size_t most,
                        struct later_error *err);

#endif
