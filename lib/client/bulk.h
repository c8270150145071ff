/*
 * bulk.h: pushes many jobs in batches of up to 500, several under way at once. Memory is bounded
 * whatever the number.
 *
 * Jobs for different queues may be mixed. Each queue, or each of its shards, has its own batch (at
 * most 64 at a time), and others for jobs with `replace` or `again`. Each batch has a call id: if
 * the connection breaks, batches without an answer are sent again, and what had arrived is not
 * pushed twice. A batch of one job without options goes by the shorter script.
 *
 * A queue may have shards. The client pushes by the plan it knows, at first into the plain queue.
 * If that plan is too old, the push is refused with the newer one (scripts/inc/fence.lua), and the
 * client begins again. While there are former counts, the id is first looked for in the parts where
 * they may have put it.
 */
#ifndef LATER_BULK_H
#define LATER_BULK_H

#include "client/call.h"
#include "queue/queue.h"

struct later_bulk;

/* The outcome of one job. Borrowed for the call. */
struct later_bulk_told {
    uint64_t mark; /* the caller's number for it */
    const char *queue, *id;
    enum later_push_result how;
    const char *state;             /* the state of a known job, else "" */
    const struct later_error *err; /* NULL when it was pushed or known */
};

/* Called for each job, in the order of its queue's batches; with shards, in any order. */
typedef void later_bulk_fn(void *arg, const struct later_bulk_told *told);

/* The client is borrowed and must outlive it. NULL: no memory. */
struct later_bulk *later_bulk_new(struct later_client *client, later_bulk_fn *fn, void *arg);

/* For one job only: if its answer is lost it is sent once more, not as often as many jobs are, and
 * failures are reported in the words of the connection. */
void later_bulk_one(struct later_bulk *bulk);

/* For how many seconds to go on trying if Redis goes away, or says that it is (later_reply_away()).
 * 0, as at first: one try at once, and if that fails, it is gone for good. */
void later_bulk_patience(struct later_bulk *bulk, double seconds);

/* Adds one job; its strings are copied. May send a batch and wait for an earlier one. Returns 0,
 * or -1 with *err: LATER_E_USAGE for a bad queue, LATER_E_REDIS when Redis is gone for good. */
int later_bulk_add(struct later_bulk *bulk, const char *queue, const struct later_push_item *item,
                   uint64_t mark, struct later_error *err);

/* Sends what is left and waits for all answers. Returns 0, or -1 with *err. More may be added
 * then. */
int later_bulk_finish(struct later_bulk *bulk, struct later_error *err);

/* Frees it; what was not finished is dropped. NULL is fine. */
void later_bulk_free(struct later_bulk *bulk);

#endif
