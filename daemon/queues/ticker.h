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

#include "link/link.h"

struct event_base;
struct ticker;

/* Its schedules are marked with identity (identity.h). All is borrowed. NULL with *err. */
struct ticker *ticker_new(struct event_base *base, const struct config *config, struct link *link,
                          const char *identity, struct later_error *err);
/* NULL is fine. */
void ticker_free(struct ticker *ticker);

/* The configuration has another queue now (config_follow()). Returns 0, or -1 without memory. */
int ticker_follow(struct ticker *ticker, const char *queue);

/* The link is up. */
void ticker_link_up(struct ticker *ticker);

/* Nothing is fired while it is paused. */
void ticker_pause(struct ticker *ticker, bool paused);

/* A queue's next tick is in this many seconds; < 0: there is none. */
void ticker_told(struct ticker *ticker, const char *queue, double seconds);

#endif
