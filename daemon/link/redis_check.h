/*
 * redis_check.h: is a Redis fit to keep jobs, and may we use it? Every master with jobs is asked
 * before any work and after each reconnect.
 *
 * A Redis is not fit if it evicts data when it is full, or if it denies or does not know a command
 * that our scripts call, or the BLPOP by which workers wait; the caller is told why. Two things
 * cause only one warning: no append-only file; and, if another Redis may become the master, no
 * replica that writes have to wait for.
 */
#ifndef LATERD_REDIS_CHECK_H
#define LATERD_REDIS_CHECK_H

#include "link/link.h"

struct redis_check;

/* failover: another Redis may become the master. judged is called with the reason why the Redis is
 * not fit, in one sentence, perhaps several times; or with NULL once everything was answered and it
 * is fit. NULL: no memory. */
struct redis_check *redis_check_new(const char *prefix, bool failover,
                                    void (*judged)(void *arg, const char *why), void *arg);
/* Its links must be freed before. NULL is fine. */
void redis_check_free(struct redis_check *check);

/* Asks the Redis at the other end of the link, which must be up; on a Cluster, each master. The
 * caller flushes. */
void redis_check_ask(struct redis_check *check, struct link *link);
/* The same over a new connection: it may be to another master, so it is warned again of missing
 * replicas. A Cluster is warned once. */
void redis_check_anew(struct redis_check *check, struct link *link);

#endif
