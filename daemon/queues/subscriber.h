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

struct queues;

/* For services.c, which calls it. */
int subscriber_new(struct queues *queues, struct later_error *err);

#endif
