/*
 * redis_check.h: is a Redis fit to keep jobs, and are we allowed to? Asked before any work and
 * after each reconnect, of every master that has jobs.
 *
 * One that throws data away when it is full, or that denies us what our scripts call, is not:
 * whoever asks is told why. No append-only file, and no replica that must be there for a write
 * where another Redis may become the master, are warned of once.
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
