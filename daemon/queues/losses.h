/*
 * losses.h: notices a Redis that came back with less than it had.
 *
 * A queue's counters only grow. What was last seen of them is kept here, and in state_dir over
 * restarts. It is compared whenever the link comes up, and when Redis no longer has our field of
 * later:hosts (FLUSHALL). Sums that have gone back are told in one line of the log and noted in
 * later:lost (lib's queue/lost.h), unless the queue was forgotten on purpose.
 *
 * Cheap: each second it reads the counters of queues that have jobs, and every five seconds those
 * of one other queue; of all, before it tells of a loss. So one of the last second may go
 * unnoticed.
 */
#ifndef LATERD_LOSSES_H
#define LATERD_LOSSES_H

#include "later/error.h"

struct losses;
struct queues;

/* For services.c, which calls it. */
int losses_new(struct queues *queues, struct later_error *err);

/* Reads the counters of all queues: the link is up, or Redis may have been emptied. now: Redis's
 * clock; if it is 0, not known, they are read when it is. */
void losses_compare(struct losses *losses, double now);

/* Call it each second. */
void losses_beat(struct losses *losses, double now);

#endif
