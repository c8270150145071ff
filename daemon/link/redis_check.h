/*
 * redis_check.h: is a Redis fit to keep jobs, and are we allowed to? Asked before any work and
 * after each reconnect, of every master that has jobs.
 *
 * One that throws data away when it is full, or that denies us what our scripts call, is refused:
 * `unsafe` is told why, in one sentence. No append-only file, and no replica that must be there for
 * a write where another Redis may become the master, are warned of once.
 */
#ifndef LATERD_REDIS_CHECK_H
#define LATERD_REDIS_CHECK_H

#include "link/link.h"

struct redis_check;

/* prefix of the keys: borrowed. failover: another Redis may become the master. NULL: no memory. */
struct redis_check *redis_check_new(const char *prefix, bool failover,
                                    void (*unsafe)(void *arg, const char *why), void *arg);
/* Its links must be freed before. NULL is fine. */
void redis_check_free(struct redis_check *check);

/* Asks the Redis at the other end of the link, which is up; of a Cluster, each master. The caller
 * flushes. */
void redis_check_ask(struct redis_check *check, struct link *link);

#endif
