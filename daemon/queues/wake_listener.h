/*
 * wake_listener.h: waits for work for workers that cannot do it themselves.
 *
 * On a Redis Cluster a BLPOP takes the keys of only one slot, so a worker of several queues cannot
 * wait for all of them on one connection. There the supervisor waits: one link per queue, in BLPOP
 * on its wake key while a worker that serves the queue is idle. On one server it waits for pools of
 * more than CONFIG_WAITED queues, with a link for each WAKE_GROUP of them: BLPOP costs Redis in
 * proportion to its keys, so if each worker waited for thousands, that would cost more than the
 * jobs.
 *
 * A wake is handed to an idle worker through its control pipe. If none is idle any more, the wake
 * is put back for another host, and the listener stops waiting until a worker says that it is idle.
 *
 * A wake that is lost (with a connection, with a worker) costs at most a second: each host's
 * migrator leaves one if it finds work and no wake.
 */
#ifndef LATERD_WAKE_LISTENER_H
#define LATERD_WAKE_LISTENER_H

#include "config/config.h"
#include "link/connections.h"

struct wake_listener;
struct event_base;

struct wake_listener_options {
    bool all; /* a Cluster: no worker waits by itself, and each queue has its own link */
    /* Is a worker of these pools (one bit each) idle? If not, wake_listener_idle() is called when
     * one is. */
    bool (*idle)(void *arg, uint32_t pools);
    /* Tells one of them to look at this queue. false: nobody is idle any more. */
    bool (*call)(void *arg, uint32_t pools, const char *queue);
    void *arg;
};

#define WAKE_GROUP 32

/* Is the configured Redis a Cluster, where no worker waits by itself? */
bool wake_listener_wanted(const struct config *config);

/* For all queues that workers do not wait for; config is borrowed. NULL with *err. */
struct wake_listener *wake_listener_new(struct event_base *base, const struct config *config,
                                        const struct wake_listener_options *options,
                                        struct later_error *err);
/* Frees it; a wake that is on its way is lost. NULL is fine. */
void wake_listener_free(struct wake_listener *wake_listener);

/* A pool of the configuration has another queue now, the last of its list (config_follow()).
 * Returns 0, or -1 without memory. */
int wake_listener_follow(struct wake_listener *wake_listener, uint32_t pool);

/* The master is now at `peer` ("host:port"; link.h). NULL is fine. */
void wake_listener_moved(struct wake_listener *wake_listener, const char *peer);

/* A worker has become idle: waits for the wakes of its queues. NULL is fine. */
void wake_listener_idle(struct wake_listener *wake_listener);

/* Adds the connections to each node. NULL is fine. */
void wake_listener_count(const struct wake_listener *wake_listener,
                         struct connections *connections);

/* A worker that was called has ended before it looked: puts the queue's wake back. NULL, and a
 * queue that it does not serve, are fine. */
void wake_listener_uncalled(struct wake_listener *wake_listener, const char *queue);

#endif
