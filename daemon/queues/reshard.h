/*
 * reshard.h: how many shards queues have. What the configuration asks for is written into Redis;
 * what Redis says is served here, even if another host has asked for it.
 *
 * Each queue's plan (shards.h) is read when the link comes up and every 10 seconds. If the
 * configuration's count differs from the plan's, the plan is changed once, by compare-and-set. If a
 * plan has more shards than are served here, `grown` is called: the configuration is loaded again,
 * and reshard_widen() adds them. Former counts under which no job lies any more are dropped
 * (sweep.h).
 */
#ifndef LATERD_RESHARD_H
#define LATERD_RESHARD_H

#include "config/config.h"
#include "link/link.h"

struct reshard;

/* config and link are borrowed; the link must be freed first. NULL: no memory. */
struct reshard *reshard_new(struct event_base *base, const struct config *config, struct link *link,
                            void (*grown)(void *arg), void *arg);
void reshard_free(struct reshard *reshard);

/* Another configuration is in force. What it asks for anew is written. */
void reshard_configure(struct reshard *reshard, const struct config *config);

/* The one in force has another queue. */
void reshard_follow(struct reshard *reshard, const struct config_queue *queue);

void reshard_link_up(struct reshard *reshard);

/* Adds the shards of the plans to a configuration that is not in force yet. -1 with *err if a pool
 * has no room. */
int reshard_widen(struct reshard *reshard, struct config *next, struct later_error *err);

#endif
