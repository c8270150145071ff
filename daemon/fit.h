/*
 * fit.h: is a Redis fit to keep jobs, and are we allowed to? Asked before any work and after each
 * reconnect, of every master that has jobs.
 *
 * One that throws data away when it is full, or that denies us what our scripts call, is refused:
 * `unsafe` is told why, in one sentence. No append-only file, and no replica that must be there for
 * a write where another Redis may become the master, are warned of once.
 */
#ifndef LATERD_FIT_H
#define LATERD_FIT_H

#include "link.h"

struct fit;

/* prefix of the keys: borrowed. failover: another Redis may become the master. NULL: no memory. */
struct fit *fit_new(const char *prefix, bool failover, void (*unsafe)(void *arg, const char *why),
                    void *arg);
/* Its links must be freed before. NULL is fine. */
void fit_free(struct fit *fit);

/* Asks the Redis at the other end of the link, which is up; of a Cluster, each master. The caller
 * flushes. */
void fit_ask(struct fit *fit, struct link *link);

#endif
