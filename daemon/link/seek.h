/*
 * seek.h: finds out in a few commands which of thousands of queues have something.
 *
 * EXISTS takes many keys and says how many of them are there. So one command can say that none of a
 * thousand queues has anything. If some have, parts are asked, sixteen at a time, down to groups of
 * four: some queues in a group may have nothing, but that costs less than another question. On a
 * Cluster a command has only one slot, so there is one command for each queue, and the result is
 * complete when the slowest node has answered or its time is up.
 */
#ifndef LATERD_SEEK_H
#define LATERD_SEEK_H

#include "link/link.h"

struct seek;

struct seek_options {
    /* Returns the k-th key of a queue, by the queue's number. */
    const char *(*key)(void *arg, uint32_t queue, unsigned k);
    unsigned keys; /* of each queue, at least 1 */
    size_t most;   /* this many are enough: the first in order, and perhaps a few more */
    /* Called once, at the end. ok: Redis has answered everything; otherwise more queues may have
     * something. found: in the order of the question; freed by seek_free(). */
    void (*done)(void *arg, bool ok, const uint32_t *found, size_t count);
    void *arg;
};

/* Makes a search in these queues, whose numbers are copied. NULL: no memory, or the link is down.
 */
struct seek *seek_new(struct link *link, const struct seek_options *options, const uint32_t *queues,
                      size_t count);

/* Begins the search, once; the caller flushes the link. `done` comes later, or at once if nothing
 * can be sent. Call seek_free() there, or any time after. */
void seek_ask(struct seek *seek);

/* After this `done` is not called. The link may be freed before or after. NULL is fine. */
void seek_free(struct seek *seek);

#endif
