/*
 * conn.h: the later_redis (redis.h) of a URL that names a server, or Sentinels: one connection, and
 * one answer to each command, always. cluster.h has one for each node.
 *
 * hiredis parses the replies, and only that. Its own connections lack what a daemon needs
 * (deadlines, CLOEXEC, writes without SIGPIPE, "sent or not?" when a connection dies: hiredis
 * 0.14.1), so sockets and queues are ours.
 *
 * With an address of Sentinels, connecting begins with asking them (sentinel.h), each for at most
 * LATER_SENTINEL_SECONDS; the Redis that is named must answer ROLE with master before commands are
 * taken. One that answers READONLY is left as soon as nothing else is outstanding there.
 */
#ifndef LATER_CONN_H
#define LATER_CONN_H

#include "redis/redis.h"

/* NULL without memory. */
struct later_redis *later_conn_new(const struct later_redis_options *options);

#endif
