/*
 * embedded.h: our own redis-server, on a unix socket in state_dir, with an append-only file and no
 * eviction. The supervisor starts, watches and stops it; it ends when the supervisor dies.
 */
#ifndef LATERD_EMBEDDED_H
#define LATERD_EMBEDDED_H

#include "config/config.h"

#include <sys/types.h>

/* Is the configured Redis the embedded one? */
bool embedded_wanted(const struct config *config);

/* Writes state_dir/redis.conf and starts the server, which can be connected to a moment later. If a
 * killed laterd left a server behind, waits for its end for at most ten seconds. Returns the pid,
 * or -1 with *err (redis-server is missing, the path of its socket is too long, state_dir is not
 * ours). *output is the non-blocking end of a pipe with the server's output; the caller closes it.
 */
pid_t embedded_start(const struct config *config, int *output, struct later_error *err);

/* Call it once a second. The server makes its socket only when it starts. So this keeps a second
 * hard link to the socket, and restores the first from it if somebody has removed that. Returns
 * whether it did. */
bool embedded_mend(const struct config *config);

#endif
