/*
 * cluster.h: the later_redis (redis.h) of a cluster: URL: a connection (conn.h) for each node that
 * is needed, behind one descriptor.
 *
 * A command goes to the node that has its slot (slot.h). One without a key goes to any node, always
 * the same as long as it answers. If a node answers
 *   MOVED      it goes to the node that this names, and CLUSTER SLOTS is asked for after it,
 *   ASK        it goes there once, after ASKING,
 *   TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN, READONLY, UNBLOCKED, or cannot be reached
 *              it waits, and is tried again with what the other nodes say by then,
 * until its own timeout is over. A command whose bytes may have arrived is never repeated: it is
 * UNKNOWN. (Redis Cluster specification, "Redirection and resharding".) Commands of one slot keep
 * their order, unless they are redirected.
 *
 * The descriptor is an epoll(7) set of the nodes' sockets. It is readable if any of them needs
 * attention.
 */
#ifndef LATER_CLUSTER_H
#define LATER_CLUSTER_H

#include "redis/redis.h"

/* NULL without memory. */
struct later_redis *later_cluster_new(const struct later_redis_options *options);

#endif
