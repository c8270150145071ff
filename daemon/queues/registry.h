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

/* Writes it again, in case somebody has emptied Redis: every few seconds. */
void registry_renew(const struct config *config, struct link *link);

#endif
