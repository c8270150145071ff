/*
 * bulk.h: pushing many jobs: batches of up to 500, several under way at once, memory bounded
 * whatever the number.
 *
 * Jobs for different queues may be mixed; each queue, or each of its shards, has a batch of its own
 * (at most 64 at a time), and others for jobs that ask to `replace` or to be pushed `again`. Each
 * batch carries a call id: if the connection breaks, the batches without an answer are sent again,
 * and what had arrived is not pushed twice. A batch of one job of which nothing is asked goes by
 * the shorter script.
 *
 * A queue may have shards. The client pushes by the plan it knows, at first into the plain queue;
 * whoever has an older plan is refused and told (scripts/inc/fence.lua), and begins again. While
 * there are former counts, the id is looked for first in the parts where it may be from former
 * plans.
 */
#ifndef LATER_BULK_H
#define LATER_BULK_H

#include "client/call.h"
#include "queue/queue.h"

struct later_bulk;

/* What became of one job. Borrowed for the call. */
struct later_bulk_told {
    uint64_t mark; /* the caller's number of it */
    const char *queue, *id;
    enum later_push_result how;
    const char *state;             /* of one that is known, else "" */
    const struct later_error *err; /* NULL when it was pushed or known */
};

/* Told of each job, in the order of its queue's batches; where it has shards, in any. */
typedef void later_bulk_fn(void *arg, const struct later_bulk_told *told);

/* The client is borrowed and must outlive it. NULL: no memory. */
struct later_bulk *later_bulk_new(struct later_client *client, later_bulk_fn *fn, void *arg);

/* For one job only: it is sent once more where its answer was lost, not as often as many are, and
 * what fails is said in the words of the connection. */
void later_bulk_one(struct later_bulk *bulk);

/* How long to go on where Redis went away, in seconds: it is tried again and again. 0, as at first:
 * it is tried at once, and if that fails it is gone for good. */
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
