/*
 * ears.h: hears what Redis tells of our queues: a delayed job that is now the earliest, a
 * reservation that was withdrawn. One connection of its own, since who subscribes can do nothing
 * else on it.
 *
 * A message may be lost with the connection: who is told must look by himself now and then.
 */
#ifndef LATERD_EARS_H
#define LATERD_EARS_H

#include "config.h"
#include "connections.h"

struct ears;
struct event_base;

struct ears_options {
    /* The score that is now the first in the queue's delayed jobs: seconds by Redis's clock. */
    void (*due)(void *arg, const char *queue, double at);
    /* `TOKEN:id`, cancelled while it was reserved. */
    void (*cancelled)(void *arg, const char *member);
    void *arg;
};

/* For all queues of all pools; config is borrowed. NULL with *err. */
struct ears *ears_new(struct event_base *base, const struct config *config,
                      const struct ears_options *options, struct later_error *err);
/* NULL is fine. */
void ears_free(struct ears *ears);

/* Adds the connections to each node. */
void ears_count(const struct ears *ears, struct connections *connections);

/* The master is at `peer` ("host:port") now: the subscription is made anew there. */
void ears_moved(struct ears *ears, const char *peer);

#endif
