/*
 * heartbeat.h: does the loop of a worker turn?
 *
 * Who wants to know asks it for a heartbeat (WORKER_BEAT). How long it has owed the answer is
 * counted in looks, a second each, so that nobody is blamed for what we stood still ourselves.
 */
#ifndef LATERD_HEARTBEAT_H
#define LATERD_HEARTBEAT_H

#include "supervisor/workers.h"

/* Called every second, before anybody judges: counts a look for whoever has not answered. A job of
 * a blocking handler keeps the loop from turning, as it should: who runs one owes nothing. */
void heartbeat_look(const struct workers *workers);

/* Asks it, unless it owes an answer or was asked less than so many seconds ago. It costs Redis
 * nothing, but wakes the worker. */
void heartbeat_ask(struct process *process, double seconds);

#endif
