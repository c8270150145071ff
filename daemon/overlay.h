/*
 * overlay.h: what operators have laid over the configuration (queue/override.h), for the workers
 * of this host: which types are paused in which queue, and other numbers of limits and permits.
 *
 * It lies in memory that the supervisor shares with the workers it forks, who can only read it. So
 * a worker learns of it without asking Redis, and a job costs one look at a number while nothing is
 * laid over anything.
 */
#ifndef LATERD_OVERLAY_H
#define LATERD_OVERLAY_H

#include "queue/override.h"

#define OVERLAY_MAX 1024 /* of all queues and limits together */

struct overlay;

/* NULL: no memory. Free it in the process that made it; NULL is fine. */
struct overlay *overlay_new(void);
void overlay_free(struct overlay *overlay);

/* In a worker: it is only read from now on. */
void overlay_seal(struct overlay *overlay);

/* What is laid over this queue, or shard, or LATER_KEY_LIMITS, is all of this answer to heed, or
 * nothing (NULL). now: of later_clock(). Returns how many there was no room for. */
size_t overlay_put(struct overlay *overlay, const char *queue, const struct later_reply *heeded,
                   double now);

/* Is this type paused in the queue, or shard, at `now`? Then name has the pause as it was given,
 * a type or the beginning of types. NULL as overlay: nothing is. */
bool overlay_pauses(const struct overlay *overlay, const char *queue, const char *type, double now,
                    char name[LATER_TYPE_MAX + 1]);

/* Are other numbers laid over this limit, or these permits, at `now`? Then *numbers has them. */
bool overlay_numbers(const struct overlay *overlay, enum later_line_for what, const char *name,
                     double now, struct later_numbers *numbers);

#endif
