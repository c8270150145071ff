/*
 * outbox.h: settlements on their way: from a slot to Redis, surely.
 *
 * Whoever ended a job (a worker), or speaks for a dead one (the keeper), puts its slot in. The
 * outbox groups slots by queue and verb, sends up to 500 of one token in a call, and frees each
 * slot when Redis has answered. What was refused for the moment, or whose answer was lost, is sent
 * again, after half a second: the token makes a repeat harmless (it answers LOST). Where Redis is a
 * replica now the link is broken before, since the host's name may lead to another by then.
 */
#ifndef LATERD_OUTBOX_H
#define LATERD_OUTBOX_H

#include "link/link.h"
#include "reservation/slots.h"

#include <stddef.h>

struct outbox;

/* The keys of a page's queue; they must outlive the outbox. */
typedef const struct later_keys *outbox_keys_fn(void *arg, struct slots *slots, uint32_t queue);

/* Told when a slot was settled and freed. lost: somebody else's by now. May be NULL. */
typedef void outbox_done_fn(void *arg, struct slots *slots, struct slot *slot, bool lost);

/* host: for the error records; borrowed. NULL: no memory. */
struct outbox *outbox_new(struct event_base *base, struct link *link, const char *host,
                          outbox_keys_fn *keys, outbox_done_fn *done, void *arg);

/* Drops what is left. Free it after its link. NULL is fine. */
void outbox_free(struct outbox *outbox);

/* Puts a FINISHED or RETURNING slot in; it is sent by the next outbox_flush(). Without memory, or
 * where `keys` knows no such queue, it becomes FREE, so that its lease lapses; returns false. */
bool outbox_add(struct outbox *outbox, struct slots *slots, struct slot *slot);

/* Sends what is there. The caller flushes the link. */
void outbox_flush(struct outbox *outbox);

/* How many wait to be sent, and how many in all have no answer. */
size_t outbox_waiting(const struct outbox *outbox);
size_t outbox_open(const struct outbox *outbox);

#endif
