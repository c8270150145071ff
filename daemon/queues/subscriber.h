/*
 * subscriber.h: receives the messages of our queues: another delayed job is the earliest, or a
 * reservation was withdrawn. It has a connection of its own, since a subscribed connection can do
 * nothing else.
 *
 * A message may be lost with the connection, so those who rely on one must also look now and then.
 */
#ifndef LATERD_SUBSCRIBER_H
#define LATERD_SUBSCRIBER_H

#include "later/error.h"
#include "link/connections.h"

struct queue;
struct queues;
struct subscriber;

/* The columns of services.h. */
int subscriber_new(struct queues *queues, struct later_error *err);
void subscriber_free(struct queues *queues);
int subscriber_begin(struct queue *queue);
void subscriber_end(struct queue *queue);
void subscriber_configure(struct queues *queues);
void subscriber_moved(struct queues *queues, const char *peer);
void subscriber_count(const struct queues *queues, struct connections *connections);

#endif
