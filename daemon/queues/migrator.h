/*
 * migrator.h: due delayed jobs and lapsed reservations become ready.
 *
 * For each queue a timer is armed at the earliest score of delayed and reserved; a push that comes
 * before all others is told (subscriber.h); and once in 0.8 s each queue is looked at, whatever
 * happens, which also leaves a wake where a plain ZADD left none. All queues that rest, which have
 * nothing to be looked at, are looked at together (link/seek.h). Each call moves at most 500 jobs;
 * a full one is followed by the next at once.
 *
 * After a connection was made anew, or a standstill of Redis or of our own, nothing lapses for a
 * third of a lease (2 s at least after a connection), so that keepers, this host's and others',
 * touch first. And each call that lapses carries a time by Redis's clock after which it does not:
 * one that lay in a frozen Redis's input runs before any touch when that goes on.
 */
#ifndef LATERD_MIGRATOR_H
#define LATERD_MIGRATOR_H

#include "link/link.h"

struct event_base;
struct migrator;

/* link: for the calls. host: for the error records of
 * lapses. NULL with *err. config is borrowed. */
struct migrator *migrator_new(struct event_base *base, const struct config *config,
                              struct link *link, const char *host, struct later_error *err);
void migrator_free(struct migrator *migrator);

/* The configuration has another queue now (config_follow()). Returns 0, or -1 without memory. */
int migrator_follow(struct migrator *migrator, const char *queue);

/* Whom to tell, with each answer, in how many seconds a queue's next schedule is due; < 0: never.
 */
typedef void migrator_tick_fn(void *arg, const char *queue, double seconds);
void migrator_on_tick(struct migrator *migrator, migrator_tick_fn *tick, void *arg);

/* The link is up. */
void migrator_link_up(struct migrator *migrator);

/* Nothing is moved while it is paused. */
void migrator_pause(struct migrator *migrator, bool paused);

/* The score that is now the first in the queue's delayed jobs: seconds by Redis's clock. */
void migrator_told(struct migrator *migrator, const char *queue, double at);

/* What Redis refuses for a queue; NULL: nothing. */
const char *migrator_fault(const struct migrator *migrator);

/* Redis's time, by the last answer and the monotonic clock; 0 while there was none. */
double migrator_redis_now(const struct migrator *migrator);

#endif
