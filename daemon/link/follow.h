/*
 * follow.h: learns from a Sentinel that the master has moved.
 *
 * Connections that break find the new master by themselves (redis.h). But a master that is cut off
 * from the others keeps its connections and goes on answering. These connections must be closed
 * when the Sentinels have named another master. So the supervisor stays connected to one Sentinel,
 * subscribed to +switch-master and +promoted-slave. It pings that Sentinel once a second, and goes
 * on to the next if there is no answer.
 */
#ifndef LATERD_FOLLOW_H
#define LATERD_FOLLOW_H

#include "link/link.h"

struct follow;

/* Is the configured Redis one that Sentinels name? */
bool follow_wanted(const struct config *config);

/* moved is called with the "host:port" of the master when it has changed, and again in the next
 * three seconds. It is first called with what the first Sentinel says, so also at the start. NULL
 * with *err. */
struct follow *follow_new(struct event_base *base, const struct config *config,
                          void (*moved)(void *arg, const char *peer), void *arg,
                          struct later_error *err);

/* NULL is fine. */
void follow_free(struct follow *follow);

#endif
