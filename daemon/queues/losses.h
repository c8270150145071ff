/*
 * losses.h: notices a Redis that came back with less than it had.
 *
 * A queue's counters only grow. What was last seen of them is kept here, and in state_dir over
 * restarts. It is compared whenever the link comes up, and when Redis no longer has our field of
 * later:hosts (FLUSHALL). Sums that have gone back are told in one line of the log and noted in
 * later:lost (lib's queue/lost.h), unless the queue was forgotten on purpose.
 *
 * Cheap: each second it reads the counters of queues that have jobs, and every five seconds those
 * of one other queue. So a loss of the last second may go unnoticed.
 */
#ifndef LATERD_LOSSES_H
#define LATERD_LOSSES_H

#include "config/config.h"
#include "link/link.h"

struct losses;

/* Reads what an earlier laterd on this state_dir saw of the same Redis. All is borrowed; the link
 * must be freed first. NULL: no memory. */
struct losses *losses_new(const struct config *config, struct link *link, const char *host);
/* Writes into state_dir what was seen. NULL is fine. */
void losses_free(struct losses *losses);

/* Another configuration. Of queues that it lacks nothing is known any more: somebody may forget
 * them. */
void losses_configure(struct losses *losses, const struct config *config);

/* The queue has jobs: its counters may have grown. Unknown names are fine. */
void losses_stirred(struct losses *losses, const char *queue);

/* Reads the counters of all queues: the link is up, or Redis may have been emptied. now: Redis's
 * clock; if it is 0, not known, they are read when it is. */
void losses_compare(struct losses *losses, double now);

/* Call it each second. */
void losses_beat(struct losses *losses, double now);

#endif
