/*
 * services.h: what is done for the queues of this host: lookers, migrator, mover, ticker,
 * overrides, reshard, losses, recorder, subscriber, wake_listener.
 *
 * A service has a part in each queue (queues.h) and a struct of its own in struct queues. Its row,
 * a struct service (queues.h) at the end of its file, has of these functions those that it needs:
 *
 *     make, unmake    its struct; make is in the table of services.c; unmake is after the link is
 *                     freed
 *     begin           a queue is served from now on, perhaps again; -1 if it cannot be
 *     end             a queue is not served any more; calls may be under way
 *     busy            something of a queue is kept or under way besides its calls: not free yet
 *     drop            frees its part of a queue
 *     configure       another configuration is in force; called after `end`, before `begin`, and at
 *                     the start
 *     link_up         the link is up
 *     moved           the master is now at `peer` ("host:port")
 *     told            what migrate has answered for a queue
 *     fault           what Redis refuses; NULL: nothing
 *     count           adds its connections to each node
 *
 * A new service is a file with its row, and a name in the table of services.c.
 */
#ifndef LATERD_SERVICES_H
#define LATERD_SERVICES_H

#include "queues/queues.h"

/* Makes all of them. -1 with *err; services_unmake() is then still to be called. */
int services_make(struct queues *queues, struct later_error *err);
/* Drops all queues' parts, which queues_free() then frees. Nothing may be under way: the link is
 * freed. */
void services_unmake(struct queues *queues);

/* A configuration comes into force, at the start or instead of the one before: queues that it adds
 * are begun, those that it lacks are ended, all others go on. It is borrowed. */
void services_configure(struct queues *queues, const struct config *config);

/* The configuration in force has another queue (config_follow()). */
void services_follow(struct queues *queues, const struct config_queue *row);

void services_link_up(struct queues *queues);
void services_moved(struct queues *queues, const char *peer);
const char *services_fault(const struct queues *queues);
void services_count(const struct queues *queues, struct connections *connections);

#endif
