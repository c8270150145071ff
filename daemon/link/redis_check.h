/*
 * redis_check.h: is a Redis fit to keep jobs, and may we use it? Every master that has jobs is
 * asked, before any work and after each reconnect.
 *
 * A Redis is not fit if it evicts data when it is full, or if it denies what our scripts call; the
 * caller is told why. Two things are only warned of, once: no append-only file; and, where another
 * Redis may become the master, no replica that writes have to wait for.
 */
#ifndef LATERD_REDIS_CHECK_H
#define LATERD_REDIS_CHECK_H

#include "link/link.h"

struct redis_check;

/* failover: another Redis may become the master. judged is told why it is not fit, in one sentence,
 * perhaps several times; with NULL that it is, once all that was asked has been answered. NULL: no
 * memory. */
struct redis_check *redis_check_new(const char *prefix, bool failover,
                                    void (*judged)(void *arg, const char *why), void *arg);
/* Its links must be freed before. NULL is fine. */
void redis_check_free(struct redis_check *check);

/* Asks the Redis at the other end of the link, which is up; of a Cluster, each master. The caller
 * flushes. */
void redis_check_ask(struct redis_check *check, struct link *link);

#endif
