/*
 * sweep.h: finds out whether a former count of shards may be forgotten: whether no job lies where
 * only that count would look for it.
 *
 * Each part is fenced first (scripts/inc/fence.lua), so that nobody pushes there by an older plan.
 * Then each of its ids, with a document or staying taken, is checked: is this its part under the
 * present count? If none is misplaced, the last former count is dropped, provided that the plan is
 * still the one of the sweep.
 *
 * For a plan without former counts, the present parts are only fenced. That shows whether one of
 * them has heard of a newer plan, which Redis must then have lost.
 */
#ifndef LATERD_SWEEP_H
#define LATERD_SWEEP_H

#include "link/link.h"

#define SWEEP_PLAN_SIZE (LATER_PLAN_SIZE + 24)

struct sweep;

/* Called at the end. newer: the epoch of a newer plan that a part knows; 0 = none. */
typedef void sweep_fn(void *arg, bool dropped, uint64_t newer);

/* Begins with the last former count of a plan; its text is as it was read. `done` is called once.
 * prefix, keys of the plain queue and link are borrowed. Returns NULL without memory or if the link
 * is down; then done is not called. */
struct sweep *sweep_start(struct link *link, const char *prefix, const struct later_keys *keys,
                          const char *plan, sweep_fn *done, void *arg);

/* Call it in `done`, or when the link is gone. NULL is fine. */
void sweep_free(struct sweep *sweep);

/* Encodes a call of the script reshard: counts in place of the plan that was read as `before`. */
void sweep_script(struct later_command *cmd, const struct later_keys *keys, const char *before,
                  const char *counts);

#endif
