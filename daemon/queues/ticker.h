/*
 * ticker.h: pushes the jobs of schedules when they are due.
 *
 * The migrator's answers say when a queue's next tick is. Then the ticker reads the schedules whose
 * tick has come and works out what each has to do (cron/schedule.h); scripts/cron_fire.lua does it,
 * if nothing has changed meanwhile. Any number of hosts may try; one succeeds. Each waits at random
 * for up to 50 ms, except the one that fired last, so usually only one asks. Only Redis's clock
 * decides.
 *
 * The schedules of the configuration are written when the link is up, and confirmed once a minute,
 * and before they are fired after a standstill. Those that this laterd wrote, and that its
 * configuration no longer has, are dropped unless another laterd has them.
 */
#ifndef LATERD_TICKER_H
#define LATERD_TICKER_H

#include "later/error.h"

struct queues;

/* For services.c, which calls it. */
int ticker_new(struct queues *queues, struct later_error *err);

/* Why a schedule cannot be fired here, such as a time zone that this host does not have; NULL: all
 * can. Borrowed, until the next event. */
const char *ticker_fault(const struct queues *queues);

#endif
