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

#include "queue/queue.h"

#include <stdbool.h>

struct losses;
struct queue;
struct queues;

/* The columns of services.h. A new one reads what an earlier laterd on this state_dir saw of the
 * same Redis; at the end it is written. */
int losses_new(struct queues *queues, struct later_error *err);
void losses_free(struct queues *queues);
bool losses_busy(const struct queue *queue);
void losses_configure(struct queues *queues);
void losses_link_up(struct queues *queues);
void losses_told(struct queue *queue, const struct later_migrated *migrated);

/* Reads the counters of all queues: the link is up, or Redis may have been emptied. now: Redis's
 * clock; if it is 0, not known, they are read when it is. */
void losses_compare(struct losses *losses, double now);

/* Call it each second. */
void losses_beat(struct losses *losses, double now);

#endif
