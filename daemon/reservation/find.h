/*
 * find.h: finds and returns what a reserve took whose answer was lost. Such a reserve is not
 * repeated: its jobs are in its token's set.
 */
#ifndef LATERD_FIND_H
#define LATERD_FIND_H

#include "link/link.h"
#include "queue/queue.h"

/* Called when that is done. If ok, nothing of the token can be left. Otherwise the link broke or
 * Redis refused, and the token has to be looked for again. */
typedef void find_done_fn(void *arg, bool ok);

/* Looks for jobs reserved under token and returns them. done is NULL if nobody waits for it: the
 * worker that reserved them lives, and is busy. Returns 0, or -1 if the link is down or memory is
 * out; then done is not called. keys must live until done. */
int find_and_return(struct link *link, const struct later_keys *keys, const char *token,
                    find_done_fn *done, void *arg);

#endif
