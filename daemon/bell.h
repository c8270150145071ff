/*
 * bell.h: waits for work for workers that cannot do it themselves.
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
#ifndef LATERD_BELL_H
#define LATERD_BELL_H

#include "config.h"
#include "connections.h"

struct bells;
struct event_base;

struct bells_options {
    /* Is a worker idle that serves this queue? If not, bells_idle() is called when one is. */
    bool (*idle)(void *arg, const char *queue);
    /* Has one of them look at this queue. false: nobody is idle any more. */
    bool (*call)(void *arg, const char *queue);
    void *arg;
};

/* Do the workers of this configuration need bells? On one server they wait for themselves. */
bool bells_wanted(const struct config *config);

/* For all queues of all pools; config is borrowed. NULL with *err. */
struct bells *bells_new(struct event_base *base, const struct config *config,
                        const struct bells_options *options, struct later_error *err);
/* A wake that is on its way is lost. NULL is fine. */
void bells_free(struct bells *bells);

/* A worker is idle that was not: waits for the wakes of its queues. NULL is fine. */
void bells_idle(struct bells *bells);

/* Adds the connections to each node. NULL is fine. */
void bells_count(const struct bells *bells, struct connections *connections);

/* A worker that was called has ended without having looked: the queue's wake is put back. NULL, and
 * a queue without a bell, are fine. */
void bells_uncalled(struct bells *bells, const char *queue);

#endif
