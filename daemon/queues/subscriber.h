/*
 * subscriber.h: receives the messages of our queues: another delayed job is the earliest, or a
 * reservation was withdrawn. It has a connection of its own, since a subscribed connection can do
 * nothing else.
 *
 * A message may be lost with the connection, so those who rely on one must also look now and then.
 */
#ifndef LATERD_SUBSCRIBER_H
#define LATERD_SUBSCRIBER_H

#include "config/config.h"
#include "link/connections.h"

struct subscriber;
struct event_base;

struct subscriber_options {
    /* The first score in the queue's delayed jobs is now this, in seconds by Redis's clock. */
    void (*due)(void *arg, const char *queue, double at);
    /* This job, `TOKEN:id`, was cancelled while it was reserved. */
    void (*cancelled)(void *arg, const char *member);
    void *arg;
};

/* For all queues of all pools; config is borrowed. NULL with *err. */
struct subscriber *subscriber_new(struct event_base *base, const struct config *config,
                                  const struct subscriber_options *options,
                                  struct later_error *err);
/* NULL is fine. */
void subscriber_free(struct subscriber *subscriber);

/* Adds the connections to each node. */
void subscriber_count(const struct subscriber *subscriber, struct connections *connections);

/* The configuration has another queue now (config_follow()). */
void subscriber_follow(struct subscriber *subscriber, const char *queue);

/* The master is now at `peer` ("host:port"): subscribes again there. */
void subscriber_moved(struct subscriber *subscriber, const char *peer);

#endif
