/*
 * outbox.h: brings settlements from a slot to Redis, whatever happens on the way.
 *
 * A worker that has ended a job, or the keeper for a dead worker, adds the job's slot. The outbox
 * groups slots by queue and verb, sends up to 500 of one token in a call, and frees each slot when
 * Redis has answered. If Redis refuses for the moment, or an answer is lost, it sends again after
 * half a second; the token makes a repeat harmless (it answers LOST). The slot of a job that goes
 * into a line is freed by `done`, if there is one, since the job is not there yet. If Redis has
 * become a replica, the link is closed first, since the host's name may now lead to another Redis.
 *
 * A page must stay mapped while its `in_outbox` is not 0.
 */
#ifndef LATERD_OUTBOX_H
#define LATERD_OUTBOX_H

#include "link/link.h"
#include "reservation/slots.h"

#include <stddef.h>

struct outbox;

/* Returns the keys of a page's queue; they must outlive the outbox. */
typedef const struct later_keys *outbox_keys_fn(void *arg, struct slots *slots, uint32_t queue);

/* Called when a slot was settled, and freed unless its job goes into a line. lost: the job is
 * somebody else's by now; not if a call of ours that had no answer may have settled it. */
typedef void outbox_done_fn(void *arg, struct slots *slots, struct slot *slot, bool lost);

/* host: for the error records; borrowed. NULL: no memory. */
struct outbox *outbox_new(struct event_base *base, struct link *link, const char *host,
                          outbox_keys_fn *keys, outbox_done_fn *done, void *arg);

/* Drops what is left. Free it after its link. NULL is fine. */
void outbox_free(struct outbox *outbox);

/* Adds a FINISHED or RETURNING slot; the next outbox_flush() sends it. Without memory, or if `keys`
 * has no such queue, the slot becomes FREE, so that its lease lapses; then returns false. */
bool outbox_add(struct outbox *outbox, struct slots *slots, struct slot *slot);

/* Sends what is there. The caller flushes the link. */
void outbox_flush(struct outbox *outbox);

/* The same, in the middle of a batch of quick jobs: acks of the newest token stay until the others
 * of its jobs are done, so that one call without ids acks them all. */
void outbox_flush_early(struct outbox *outbox);

/* The same for all but what may go in one call with a reserve: what these make ready, that reserve
 * finds behind them. */
void outbox_flush_but_joining(struct outbox *outbox);

/* Settlements on their way in one call with a reserve of the same queue (sending_encode()). */
struct sending;

/* Takes some for such a call: acks of one token, at most `most`; or one job that is done and leaves
 * a result or a value. early: only acks, and not those that outbox_flush_early() would leave. NULL:
 * there are none. */
struct sending *outbox_join(struct outbox *outbox, const struct later_keys *keys, size_t most,
                            bool early);

/* Hands over what became of the call, NULL if it was not sent; `sending` is gone then. The answer
 * stays the caller's. What Redis refused goes again by a call of its own. */
void outbox_joined(struct sending *sending, const struct later_answer *answer);

/* Return how many wait to be sent; and how many have no answer, with these. */
size_t outbox_waiting(const struct outbox *outbox);
size_t outbox_open(const struct outbox *outbox);

#endif
