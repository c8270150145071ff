/*
 * wake_dispatch.h: which worker gets a wake that the wake listener heard (wake_listener.h).
 */
#ifndef LATERD_WAKE_DISPATCH_H
#define LATERD_WAKE_DISPATCH_H

#include "supervisor/workers.h"

/* Is a worker of these pools idle? A bit for each. If not, each of them will report when it is
 * (WORKER_IDLE). */
bool wake_dispatch_idle(const struct workers *workers, uint32_t pools);

/* Has one of them look at the queue: of those that run the fewest jobs the one that was called the
 * longest ago; or, where none is idle, one that was called a moment ago and takes more. false: put
 * it back. */
bool wake_dispatch_call(const struct workers *workers, uint32_t pools, const char *queue);

#endif
