/*
 * migrator.h: due delayed jobs and lapsed reservations become ready.
 *
 * All this only while this host looks after its queues (lookers.h).
 *
 * For each queue a timer is armed at the earliest score of delayed and reserved. A push that is due
 * before all others is announced (subscriber.h). Besides, each queue is looked at every 0.8 s,
 * which also leaves a wake if a plain ZADD left none. Queues that rest, because they have nothing
 * to look at, are checked together (link/seek.h); for ids that stayed taken and for flows that look
 * after their jobs elsewhere only every 10 s. Each call moves at most 500 jobs; after a full one
 * the next follows at once.
 *
 * After a reconnect, or if Redis or we stood still, nothing lapses for a third of a lease (after a
 * reconnect at least 2 s), so that the keepers of all hosts touch first. Each lapse also carries a
 * time by Redis's clock after which it does nothing. It may be stuck in the input of a frozen
 * Redis, and would run before any touch when Redis goes on.
 */
#ifndef LATERD_MIGRATOR_H
#define LATERD_MIGRATOR_H

#include "later/error.h"

#include <stdio.h>

struct config;
struct migrator;
struct queue;
struct queues;

/* Of its row (services.h), what is also called by name. */
int migrator_new(struct queues *queues, struct later_error *err);
int migrator_begin(struct queue *queue);
void migrator_end(struct queue *queue);
void migrator_link_up(struct queues *queues);
const char *migrator_fault(const struct queues *queues);

/* The first score in the queue's delayed jobs is now this, in seconds by Redis's clock. */
void migrator_due(struct queue *queue, double at);

/* Whether others look (lookers.h) is another now. Other hosts do while it does not: then no
 * queue is asked for anything. */
void migrator_looks(struct queues *queues);

/* Writes what a configuration says of a look besides the queues, without spaces at its ends. */
void migrator_describe(const struct config *config, FILE *out);

/* Redis's clock, in seconds, as in an answer that has just come. */
void migrator_clock(const struct queues *queues, double redis_now);

/* Returns Redis's time, from the last answer and the monotonic clock; 0 before the first answer. */
double migrator_redis_now(const struct migrator *migrator);

#endif
