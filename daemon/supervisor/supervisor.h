/*
 * supervisor.h: the process that keeps the others alive.
 *
 *     main ── supervisor ─┬─ worker × N     forked; load plugins, run jobs (orders.h)
 *                         ├─ redis-server   if it is the embedded one (embedded.h)
 *                         └─ a checker      at the start and at each reload, for a moment
 *
 * It forks, reaps, reloads by generation and stops. Its keeper and its migrator talk to Redis. It
 * never loads a plugin and never reads a payload.
 */
#ifndef LATERD_SUPERVISOR_H
#define LATERD_SUPERVISOR_H

#include "config/config.h"

/* Runs laterd until it is stopped. Takes over the configuration. HUP reads the next one from path
 * (or NULL). verbose: log debug lines whatever the configuration says. Returns the exit status: 0,
 * LATER_E_CONFIG, LATER_E_LATER (state_dir is in use) or LATER_E_SYSTEM. */
int supervisor_run(struct config *config, const char *path, bool verbose);

#endif
