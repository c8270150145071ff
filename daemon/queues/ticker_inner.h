/* ticker_inner.h: what the files of ticker share. */
#ifndef LATERD_TICKER_INNER_H
#define LATERD_TICKER_INNER_H

#include "queues/ticker.h"

#include "queue/crontab.h"
#include "queues/queues.h"

#define TICKER_ZONES_MAX 64 /* are kept open; others are read each time */

struct ticker {
    char *origin; /* config:HOST:ID */
    struct timer *minute;
    struct {
        char name[LATER_ZONE_MAX + 1];
        struct later_zone *zone;
    } zones[TICKER_ZONES_MAX];
    size_t zone_count;
};

/* ticker_load.c: puts the queue's schedules of the configuration; says that they are there. */
void ticker_load(struct queue *queue);
void ticker_refresh(struct queue *queue);
/* Says so of those rows of a look of which nobody has for two minutes: we stood still, or Redis's
 * clock jumped. Calls that are sent after this see them as seen. */
void ticker_renew(struct queue *queue, const struct later_reply *rows,
                  const struct later_crontab *crontab);

#endif
