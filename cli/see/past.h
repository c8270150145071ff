/*
 * past.h: reading a range of a queue's history, many periods in one round trip.
 */
#ifndef LATER_CLI_PAST_H
#define LATER_CLI_PAST_H

#include "cli.h"
#include "history/history.h"

/* A range: whole periods of one scale, the last of which is the present one. */
struct past_range {
    enum later_scale scale;
    int64_t first, last;
    double from, to; /* UNIX seconds: where the first begins; now */
};

/* The last `seconds` until now, by Redis's clock. scale: LATER_SCALES: the finest that has all of
 * it. Opens the client. Returns 0, or -1 with *err. */
int past_range(struct cli *cli, double seconds, enum later_scale scale, struct past_range *range,
               struct later_error *err);

/* Calls fn for each period, in order, with what all laterds counted in it; it may take the tallies
 * over (and zero them). queue: a whole one's name. Returns 0, or -1 with *err. */
int past_read(struct cli *cli, const char *queue, const struct past_range *range,
              void (*fn)(void *arg, int64_t period, struct later_tallies *tallies), void *arg,
              struct later_error *err);

#endif
