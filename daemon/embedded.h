/*
 * embedded.h: our own redis-server, on a unix socket in state_dir, with an append-only file and no
 * eviction. The supervisor starts, watches and stops it; it ends when the supervisor dies.
 */
#ifndef LATERD_EMBEDDED_H
#define LATERD_EMBEDDED_H

#include "config/config.h"

#include <sys/types.h>

/* Is the configuration's Redis the embedded one? */
bool embedded_wanted(const struct config *config);

/* Writes state_dir/redis.conf and starts the server; it can be connected to a moment later. A
 * server that a killed laterd left behind is waited for, at most ten seconds. Returns its pid, or
 * -1 with *err (redis-server is missing, its socket's path is too long, state_dir is not ours).
 * *output is what it writes: the end of a pipe that does not wait, and the caller's. */
pid_t embedded_start(const struct config *config, int *output, struct later_error *err);

/* Once a second: keeps a second link to the server's socket, and makes the first again from it
 * where somebody has removed that, since the server makes it at its start only. Returns whether it
 * did. */
bool embedded_mend(const struct config *config);

#endif
