/*
 * wake_dispatch.h: which worker gets a wake from the wake listener: its options `idle` and `call`
 * (wake_listener.h). workers: a struct workers.
 */
#ifndef LATERD_WAKE_DISPATCH_H
#define LATERD_WAKE_DISPATCH_H

#include "supervisor/workers.h"

/* Is a worker of these pools (one bit each) idle? If not, each of them will report when it is
 * (WORKER_IDLE). */
bool wake_dispatch_idle(void *workers, uint32_t pools);

/* Tells an idle worker to look at the queue. Of those that run the fewest jobs it takes the one
 * that was called longest ago. If none is idle, it tells one that was called a moment ago and takes
 * more. Returns false if none does; then put the wake back. */
bool wake_dispatch_call(void *workers, uint32_t pools, const char *queue);

#endif
