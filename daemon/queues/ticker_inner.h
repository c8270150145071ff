/* ticker_inner.h: what the files of ticker share. */
#ifndef LATERD_TICKER_INNER_H
#define LATERD_TICKER_INNER_H

#include "queues/ticker.h"

#include "base/names.h"
#include "fault.h"
#include "link/calls.h"
#include "queue/crontab.h"

#define TICKER_ZONES_MAX 64 /* are kept open; others are read each time */

struct event;

struct ticker_queue {
    struct ticker *ticker;
    struct later_keys keys;
    struct timer *timer; /* at the next tick */
    double tick;         /* later_clock(): that tick, as told; INFINITY: the timer is not set */
    bool looking;
    size_t firing;  /* calls without an answer */
    bool was_first; /* it fired the last tick */
    double now;     /* Redis's clock minus ours, as of the last answer */
    size_t rank;    /* of the next page that is looked through */
    bool loading;
    bool again; /* something was not put */
    struct fault fault;
};

struct ticker {
    const struct config *config;
    struct link *link; /* outlives us */
    struct calls *calls;
    char *origin; /* config:HOST:ID */
    struct event_base *base;
    struct later_names queues;
    struct timer *minute;
    struct {
        char name[LATER_ZONE_MAX + 1];
        struct later_zone *zone;
    } zones[TICKER_ZONES_MAX];
    size_t zone_count;
    bool paused;
};

/* ticker_load.c: puts the queue's schedules of the configuration; says that they are there. */
void ticker_load(struct ticker_queue *queue);
void ticker_refresh(struct ticker_queue *queue);
/* Says so of those rows of a look of which nobody has for two minutes: we stood still, or Redis's
 * clock jumped. Calls that are sent after this see them as seen. */
void ticker_renew(struct ticker_queue *queue, const struct later_reply *rows,
                  const struct later_crontab *crontab);

#endif
