/*
 * tend.h: what the supervisor does for the queues of one configuration: migrator, ears, bells. A
 * reload makes another one.
 */
#ifndef LATERD_TEND_H
#define LATERD_TEND_H

#include "keeper.h"
#include "workers.h"

struct tend;

/* All is borrowed. NULL with *err. */
struct tend *tend_new(struct event_base *base, const struct config *config, struct link *link,
                      const char *host, struct keeper *keeper, struct workers *workers,
                      struct later_error *err);
/* NULL is fine. */
void tend_free(struct tend *tend);

/* The link is up; the master is at `peer` now (link.h). */
void tend_link_up(struct tend *tend);
void tend_moved(struct tend *tend, const char *peer);

/* A worker is idle that was not; one ended that was called for this queue and had not looked. */
void tend_idle(struct tend *tend);
void tend_uncalled(struct tend *tend, const char *queue);

/* Adds the connections to each node of a Cluster. */
void tend_count(const struct tend *tend, struct connections *connections);

/* Redis's clock; 0 = not known yet. */
double tend_redis_now(const struct tend *tend);

#endif
