/*
 * seek.h: which of thousands of queues have something, in a few commands.
 *
 * EXISTS takes many keys and says how many of them are there. So one command can say that none of a
 * thousand queues has anything. If some have, parts are asked, sixteen at a time, down to groups of
 * four: some queues in a group may have nothing, but that costs less than another question. On a
 * Cluster, where each command has one slot, it is one command for each queue, and the answer is
 * complete when the slowest node has answered or its time is up.
 */
#ifndef LATERD_SEEK_H
#define LATERD_SEEK_H

#include "link/link.h"

struct seek;

struct seek_options {
    /* The k-th key of a queue, by its number. */
    const char *(*key)(void *arg, uint32_t queue, unsigned k);
    unsigned keys; /* of each queue, at least 1 */
    size_t most;   /* enough are found: the first in their order, not many more than so many */
    /* The end, once. ok: Redis has answered all; if not, more of them may have something. found: in
     * the order that was asked for; it goes with seek_free(). */
    void (*done)(void *arg, bool ok, const uint32_t *found, size_t count);
    void *arg;
};

/* For these queues; the numbers are copied. NULL: no memory, or the link is down. */
struct seek *seek_new(struct link *link, const struct seek_options *options, const uint32_t *queues,
                      size_t count);

/* Begins, once; the caller flushes the link. `done` comes later, or at once where nothing can be
 * sent; seek_free() is called there, or any time after. */
void seek_ask(struct seek *seek);

/* `done` is not called any more; the link may be gone before or after. NULL is fine. */
void seek_free(struct seek *seek);

#endif
