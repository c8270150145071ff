/*
 * workload.h: what a worker does at the moment, read from its page (slots.h) for the line in
 * later:hosts.
 */
#ifndef LATERD_WORKLOAD_H
#define LATERD_WORKLOAD_H

#include "queues/announce.h"
#include "supervisor/process.h"

/* Adds one worker's jobs, attempts, connections and, if state->weighs, memory to *state. The worker
 * may write its page meanwhile, or have overwritten it. */
void workload_add(const struct process *process, struct announce_state *state);

#endif
