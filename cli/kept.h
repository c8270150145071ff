/*
 * kept.h: what is known of queues by one who looks at them again and again: `later top`, and
 * `later status --lately` in `later serve`. sizes_ask() then asks Redis only whether a queue has
 * changed, and for what has.
 *
 * A queue that has changed within the last ten seconds is looked at in three commands. Of the
 * others each gets one to three, so that all together take a dozen; with one of them, a push
 * is seen at the second look, and a job that was put there in another way at the fourth. Where
 * looks are further apart than two seconds, each sees what was pushed. One more
 * command tells of all of them whether some are paused or spread over shards. Every ten minutes
 * everything is asked.
 */
#ifndef LATER_CLI_KEPT_H
#define LATER_CLI_KEPT_H

#include "history/tally.h"
#include "queue/glance.h"
#include "queue/shards.h"

/* One queue in Redis: a plain queue or a shard. Times are of the monotonic clock; 0 = never. */
struct kept_queue {
    struct later_glance glance; /* as it was when it was last looked at */
    double since, full;         /* when all was asked for the first and for the last time */
    double changed;             /* when it was last seen to have changed */
    double over;                /* when overdue reservations were last counted */
    double looked;              /* when it was looked at */
    double oldest; /* since when its oldest ready job waits, by Redis's clock; 0 = none */
    uint32_t turn;
    later_queue_name name;
    /* For `later status --trouble`: what was done in the minutes up to this one, and when that was
     * read; when nothing was found to have died lately, and no job whose type nobody has. */
    struct later_tallies recent; /* owned */
    int64_t minute;
    double recent_read, none_died, none_unknown;
};

struct kept;

/* Returns NULL without memory. */
struct kept *kept_new(void);
void kept_free(struct kept *kept); /* NULL is allowed */

/* What is known of this queue: zeroed if that is nothing. NULL without memory, or beyond 20,000
 * queues: then nothing is kept of it. It stays where it is until kept_free(). */
struct kept_queue *kept_find(struct kept *kept, const char *name);

/* How many commands each of these queues gets that have not changed lately: 1 to 3. some: what is
 * kept of them; entries may be NULL. */
unsigned kept_share(struct kept_queue *const *some, size_t count);

/* The questions (queue/glance.h) with which to begin. Before LATER_GLANCE_FULL nothing is known. */
uint32_t kept_wants(struct kept_queue *queue, unsigned share);

/* Is what was read then still right? It is if the queue has not changed since, nor within `settled`
 * seconds before. still: seconds since it was seen to change. */
bool kept_stays(double read, double settled, double still);

#endif
