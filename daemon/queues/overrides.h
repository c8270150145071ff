/*
 * overrides.h: what operators lay over the configuration of the queues at run time, as heed tells
 * of it (doc/protocol.md, "Overrides").
 *
 * heed is called when this host begins to hear of a queue's changes, at each change, and when
 * something ends by itself; so a fleet asks nothing while nothing changes. What heed says is put
 * into the overlay (overlay.h), where the workers read it. Each host brings back the jobs that a
 * pause has kept, 500 a call; it does not matter how many do so at once.
 */
#ifndef LATERD_OVERRIDES_H
#define LATERD_OVERRIDES_H

#include "later/error.h"

#include <stdbool.h>

struct queue;
struct queues;

/* For services.c, which calls it. */
int overrides_new(struct queues *queues, struct later_error *err);

/* Is it known of all queues at the start? Until then no job may begin, since its type may be
 * paused. Also true two seconds after the link came up: a node of a Cluster may be away. */
bool overrides_settled(const struct queues *queues);

/* What is laid over limits and permits is heard and asked for as that of a queue, which is none of
 * queues_find(). NULL: this service was not made. */
struct queue *overrides_limits(const struct queues *queues);

/* Something has changed, or from now on every change will be heard. */
void overrides_heard(struct queue *queue);

#endif
