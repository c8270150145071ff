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

#define WAKE_GROUP 32

struct queue;
struct queues;
struct wake_listener;

/* Is the configured Redis a Cluster, where no worker waits by itself? */
bool wake_listener_wanted(const struct config *config);

/* Of its row (services.h), what is also called by name. When it is freed, a wake that is on its way
 * is lost. */
int wake_listener_new(struct queues *queues, struct later_error *err);
void wake_listener_free(struct queues *queues);
void wake_listener_configure(struct queues *queues);

/* A worker has become idle: waits for the wakes of its queues. */
void wake_listener_idle(struct queues *queues);

/* A worker that was called has ended before it looked: puts the queue's wake back. A queue that it
 * does not serve is fine. */
void wake_listener_uncalled(struct queues *queues, const char *queue);

#endif
