/*
 * wake_listener.h: waits for work for workers that cannot do it themselves.
 *
 * On a Redis Cluster a BLPOP takes the keys of one slot only, so that a worker of several queues
 * cannot wait for all of them on one connection. There the supervisor waits: one link per queue, a
 * BLPOP on its wake key while a worker that serves the queue is idle. The wake that comes is handed
 * to one of them, on its control pipe; where nobody is idle any more, it is put back, for another
 * host, and nobody waits here until a worker says that it is idle.
 *
 * A wake that is lost (with a connection, with a worker) costs a second at most: each host's
 * migrator leaves one where it finds work and none there.
 */
#ifndef LATERD_WAKE_LISTENER_H
#define LATERD_WAKE_LISTENER_H

#include "config/config.h"
#include "link/connections.h"

struct wake_listener;
struct event_base;

struct wake_listener_options {
    /* Is a worker idle that serves this queue? If not, wake_listener_idle() is called when one is.
     */
    bool (*idle)(void *arg, const char *queue);
    /* Has one of them look at this queue. false: nobody is idle any more. */
    bool (*call)(void *arg, const char *queue);
    void *arg;
};

/* Do the workers of this configuration need a listener? On one server they wait for themselves. */
bool wake_listener_wanted(const struct config *config);

/* For all queues of all pools; config is borrowed. NULL with *err. */
struct wake_listener *wake_listener_new(struct event_base *base, const struct config *config,
                                        const struct wake_listener_options *options,
                                        struct later_error *err);
/* A wake that is on its way is lost. NULL is fine. */
void wake_listener_free(struct wake_listener *wake_listener);

/* A worker is idle that was not: waits for the wakes of its queues. NULL is fine. */
void wake_listener_idle(struct wake_listener *wake_listener);

/* Adds the connections to each node. NULL is fine. */
void wake_listener_count(const struct wake_listener *wake_listener,
                         struct connections *connections);

/* A worker that was called has ended without having looked: the queue's wake is put back. NULL, and
 * a queue that it does not serve, are fine. */
void wake_listener_uncalled(struct wake_listener *wake_listener, const char *queue);

#endif
