/*
 * bulk_batch.h: a batch of bulk.c: one call in the making or under way, for one part of a queue
 * and by one plan of its shards. It owns copies of its jobs.
 */
#ifndef LATER_BULK_BATCH_H
#define LATER_BULK_BATCH_H

#include "client/bulk.h"
#include "job/document.h"
#include "queue/shards.h"

/* A job of it. */
struct later_batch_slot {
    size_t id, document; /* offsets into bytes */
    struct later_push_item item;
    uint64_t mark;
    unsigned step;  /* on its way (later_plan_route()) */
    unsigned tries; /* plans that were stale */
    bool told;
};

struct later_batch {
    struct later_bulk *bulk;
    later_queue_name queue; /* that the caller named; the keys are of the part */
    uint64_t epoch;
    unsigned flags;               /* of the call, LATER_PUSH_SEEK among them */
    char call[LATER_NEW_ID_SIZE]; /* its id, drawn when it is sent, unless that is: */
    bool shortly;                 /* by the short script, since nothing is asked of its only job */
    struct later_call_number number; /* then */
    struct later_batch_slot *slots;
    size_t count, slots_room;
    char *bytes;
    size_t len, room;
    unsigned losses;        /* in a row, while Redis answered no other batch */
    bool lost;              /* it has to be sent: its answer never came, or it is new */
    struct later_error why; /* it was lost */
    struct later_batch *next;
    struct later_keys keys; /* the last member, since a new batch has all others cleared */
};

/* A batch, but for its keys, which the caller writes. NULL: no memory. */
struct later_batch *later_batch_new(struct later_bulk *bulk);

/* Frees it, or a list of them. NULL is fine. */
void later_batch_free(struct later_batch *batch);
void later_batch_free_all(struct later_batch *list);

/* Adds a copy of a job, of which there are fewer than LATER_BATCH_MAX. Returns its entry, NULL
 * without memory. */
struct later_batch_slot *later_batch_add(struct later_batch *batch,
                                         const struct later_batch_slot *from);

/* The job of an entry, which borrows from the batch. */
struct later_push_item later_batch_item(const struct later_batch *batch,
                                        const struct later_batch_slot *slot);

/* Encodes the call, for later_call_begin(). */
void later_batch_call(const struct later_batch *batch, struct later_command *cmd);

/* Reports how one job went, once. */
void later_batch_tell(struct later_batch *batch, struct later_batch_slot *slot,
                      const struct later_bulk_told *how, later_bulk_fn *fn, void *arg);

/* Reports all jobs, from the answer, or from err if there is none; but not a job that was only
 * looked for and was not found. Returns whether all are reported. */
bool later_batch_report(struct later_batch *batch, const struct later_reply *reply,
                        const struct later_error *err, later_bulk_fn *fn, void *arg);

#endif
