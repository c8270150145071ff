/*
 * route.h: pushing one job into a queue that may have shards.
 *
 * The client pushes by the plan it knows, at first into the plain queue; whoever has an older plan
 * is refused and told (scripts/inc/fence.lua), and begins again. While there are former counts, the
 * id is looked for first in the parts where it may be from former plans.
 */
#ifndef LATER_ROUTE_H
#define LATER_ROUTE_H

#include "client/call.h"
#include "queue/queue.h"

#define LATER_ROUTE_TRIES 20 /* plans heard one after the other, before it is given up */

/* How it went. */
struct later_routed {
    enum later_pushed how; /* never LATER_PUSH_ABSENT */
    char state[16];        /* of one that exists, else "" */
};

/* Pushes it, in script calls each of which may be repeated. flags: 0, LATER_PUSH_REPLACE or
 * LATER_PUSH_AGAIN. Returns 0, or -1 with *err as later_push(). */
int later_route_push(struct later_client *client, const char *queue, unsigned flags,
                     const struct later_push_item *item, struct later_routed *routed,
                     struct later_error *err);

/* The plan changed while one pushed: waits where that was not the first time. tries: so often. -1
 * with *err where it is enough. */
int later_route_again(const char *queue, unsigned tries, struct later_error *err);

#endif
