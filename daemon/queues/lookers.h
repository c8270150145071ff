/*
 * lookers.h: a few hosts look after the queues of all.
 *
 * Hosts that serve the same queues share up to three leases (LATER_SCRIPT_PERMIT_TAKE, with a key
 * for each set of queues). Who has one is a looker: its migrator and its ticker do all that is said
 * there; those of others find `others_look` in struct queues. The others ask for a lease from time
 * to time, the more seldom the more hosts there are, since together they ask as often. So what idle
 * hosts ask does not grow with queues times hosts; and if a looker is killed, frozen or cut off,
 * the other lookers are there already.
 *
 * This saves work and decides nothing: whoever does not know looks, and what two hosts do at a time
 * is done once, by the scripts. So a host looks when it starts, after each new connection, whenever
 * the set of its queues changes and while Redis refuses the lease, until it has been told that
 * enough others do. A host with a fault (services.h), or with a schedule that it cannot fire,
 * looks, too, but without a lease, since what it cannot do others may be able to.
 */
#ifndef LATERD_LOOKERS_H
#define LATERD_LOOKERS_H

struct later_error;
struct queue;
struct queues;

/* The columns of services.h. */
int lookers_new(struct queues *queues, struct later_error *err);
void lookers_free(struct queues *queues);
int lookers_begin(struct queue *queue);
void lookers_end(struct queue *queue);
void lookers_configure(struct queues *queues);
void lookers_link_up(struct queues *queues);

/* Gives the lease back, if we have one; the answer is not awaited. For the end. */
void lookers_leave(struct queues *queues);

#endif
