/*
 * reshard.h: how many shards queues have. What the configuration asks for is written into Redis;
 * what Redis says is served here, even if another host has asked for it.
 *
 * Each queue's plan (shards.h) is read when the link comes up, and every 10 seconds or, among many
 * hosts, as often as these tell of themselves (announce.h). If the
 * configuration's count differs from the plan's, the plan is changed once, by compare-and-set. If a
 * plan has more shards than are served here, `grown` is called (queues.h): the configuration is
 * loaded again, and reshard_widen() adds them. Former counts under which no job lies any more are
 * dropped (sweep.h).
 */
#ifndef LATERD_RESHARD_H
#define LATERD_RESHARD_H

#include "config/config.h"

struct queues;

/* For services.c, which calls it. */
int reshard_new(struct queues *queues, struct later_error *err);

/* Reads the plans if that is due; the caller flushes the link. */
void reshard_beat(struct queues *queues);

/* Adds the shards of the plans to a configuration that is not in force yet. -1 with *err if a pool
 * has no room. */
int reshard_widen(struct queues *queues, struct config *next, struct later_error *err);

#endif
