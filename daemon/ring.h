/*
 * ring.h: which of the workers a bell (bell.h) is for.
 */
#ifndef LATERD_RING_H
#define LATERD_RING_H

#include "workers.h"

/* Is a worker idle whose pool has this queue? If not, each of them will report when it is
 * (WORKER_IDLE). */
bool ring_idle(const struct workers *workers, const char *queue);

/* Has one of them look at the queue: of those that run the fewest jobs the one that was called the
 * longest ago. false: none is idle. */
bool ring_call(const struct workers *workers, const char *queue);

#endif
