/*
 * conn.h: the later_redis (redis.h) for a URL that names a server or Sentinels: one connection, and
 * always one answer to each command. cluster.h uses one for each node.
 *
 * hiredis only parses the replies. Its own connections (hiredis 0.14.1) lack what a daemon needs:
 * deadlines, CLOEXEC, writes without SIGPIPE, and whether a command was sent when a connection
 * dies. So sockets and queues are ours.
 *
 * With an address of Sentinels, connecting begins by asking them (sentinel.h), each for at most
 * LATER_SENTINEL_SECONDS. The Redis that they name must answer ROLE with master before commands are
 * taken. If it answers READONLY, the connection is closed as soon as nothing else is unanswered
 * there.
 */
#ifndef LATER_CONN_H
#define LATER_CONN_H

#include "redis/redis.h"

/* NULL without memory. */
struct later_redis *later_conn_new(const struct later_redis_options *options);

#endif
