/*
 * registry.h: what every laterd writes about itself and its queues so that others find it:
 * later:protocol, the names in later:queues, how many jobs a queue may have (`max_jobs` in its
 * `stats`, which scripts/push.lua obeys), how long ended flows are kept (`flows_kept`, likewise),
 * the weights of groups, and the scripts of pushers, loaded in each master.
 */
#ifndef LATERD_REGISTRY_H
#define LATERD_REGISTRY_H

#include "config/config.h"
#include "link/link.h"

/* Writes all of it, and removes a `max_jobs`, `flows_kept` and weights that the configuration no
 * longer has. Call it when the link is up, and with a new configuration. Sends, but does not flush.
 */
void registry_write(const struct config *config, struct link *link);

/* Writes the `max_jobs` and the `flows_kept` of a queue, or removes them. Sends, but does not
 * flush. */
void registry_queue(const struct config *config, const struct config_queue *queue,
                    struct link *link);

/* Writes the name of a queue that gets a job. Sends, but does not flush. */
void registry_name(const char *prefix, struct link *link, const char *queue);

/* Writes it again every few seconds, in case somebody has emptied Redis; each turn (0, 1, 2 …)
 * renews a part of the queues. */
void registry_renew(const struct config *config, struct link *link, uint32_t turn);

#endif
