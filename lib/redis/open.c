/* open.c: makes the client for one server or for a Cluster. */
#include "redis/cluster.h"
#include "redis/conn.h"

struct later_redis *later_redis_new(const struct later_redis_options *options)
{
    return options->address.cluster ? later_cluster_new(options) : later_conn_new(options);
}
