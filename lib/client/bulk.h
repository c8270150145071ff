/*
 * bulk.h: pushing many jobs: batches of up to 500, several under way at once, memory bounded
 * whatever the number.
 *
 * Jobs for different queues may be mixed; each queue, or each of its shards, has a batch of its own
 * (at most 64 at a time), and another one for jobs that ask to be pushed `again`. Each batch
 * carries a call id: if the connection breaks, the batches without an answer are sent again, and
 * what had arrived is not pushed twice.
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
    enum later_pushed how;
    const char *state;             /* of one that exists, else "" */
    const struct later_error *err; /* NULL when it was pushed or known */
};

/* Told of each job, in the order of its queue's batches; where it has shards, in any. */
typedef void later_bulk_fn(void *arg, const struct later_bulk_told *told);

/* replace: as later_queue_push(), but for jobs that ask to be pushed `again`: those are. The client
 * is borrowed and must outlive it. NULL: no memory. */
struct later_bulk *later_bulk_new(struct later_client *client, bool replace, later_bulk_fn *fn,
                                  void *arg);

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
