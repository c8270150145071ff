/*
 * registry.h: what every laterd writes about itself and its queues so that others find it:
 * later:protocol, the names in later:queues, and how many jobs a queue may have (`max_jobs` in its
 * `stats`, which scripts/push.lua obeys).
 */
#ifndef LATERD_REGISTRY_H
#define LATERD_REGISTRY_H

#include "config/config.h"
#include "link/link.h"

/* Writes all of it, and takes out a `max_jobs` that the configuration has no more. Once the link is
 * up, and with a new configuration. Sends; does not flush. */
void registry_write(const struct config *config, struct link *link);

/* The `max_jobs` of a queue, or that it has none. */
void registry_limit(const struct config *config, const struct config_queue *queue,
                    struct link *link);

/* Writes it again, in case somebody has emptied Redis: every few seconds, a part of the limits at
 * each turn (0, 1, 2 …). */
void registry_renew(const struct config *config, struct link *link, uint32_t turn);

#endif
