/*
 * migrator.h: due delayed jobs and lapsed reservations become ready.
 *
 * For each queue a timer is armed at the earliest score of delayed and reserved. A push that is due
 * before all others is announced (subscriber.h). Besides, each queue is looked at every 0.8 s,
 * which also leaves a wake if a plain ZADD left none. Queues that rest, because they have nothing
 * to look at, are checked together (link/seek.h). Each call moves at most 500 jobs; after a full
 * one the next follows at once.
 *
 * After a reconnect, or if Redis or we stood still, nothing lapses for a third of a lease (after a
 * reconnect at least 2 s), so that the keepers of all hosts touch first. Each lapse also carries a
 * time by Redis's clock after which it does nothing. It may be stuck in the input of a frozen
 * Redis, and would run before any touch when Redis goes on.
 */
#ifndef LATERD_MIGRATOR_H
#define LATERD_MIGRATOR_H

#include "link/link.h"
#include "queue/queue.h"

struct event_base;
struct migrator;

/* link: for the calls. host: for the error records of lapses. config is borrowed. NULL with *err.
 */
struct migrator *migrator_new(struct event_base *base, const struct config *config,
                              struct link *link, const char *host, struct later_error *err);
void migrator_free(struct migrator *migrator);

/* The configuration has another queue now (config_follow()). Returns 0, or -1 without memory. */
int migrator_follow(struct migrator *migrator, const char *queue);

/* Called with each answer for a queue. */
typedef void migrator_tick_fn(void *arg, const char *queue, const struct later_migrated *migrated);
void migrator_on_tick(struct migrator *migrator, migrator_tick_fn *tick, void *arg);

/* The link is up. */
void migrator_link_up(struct migrator *migrator);

/* While it is paused, nothing is moved. */
void migrator_pause(struct migrator *migrator, bool paused);

/* The first score in the queue's delayed jobs is now this, in seconds by Redis's clock. */
void migrator_told(struct migrator *migrator, const char *queue, double at);

/* What Redis refuses for a queue; NULL: nothing. */
const char *migrator_fault(const struct migrator *migrator);

/* Returns Redis's time, from the last answer and the monotonic clock; 0 before the first answer. */
double migrator_redis_now(const struct migrator *migrator);

#endif
