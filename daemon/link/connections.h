/*
 * connections.h: how many connections there are to each node of a Cluster: each process of laterd
 * counts its own; a worker's are in its slot page.
 */
#ifndef LATERD_CONNECTIONS_H
#define LATERD_CONNECTIONS_H

#include "redis/redis.h"

#include <stdint.h>

#define CONNECTIONS_NODES 128
#define CONNECTIONS_NAME  80 /* a longer one is cut */

struct connections {
    uint32_t count;
    struct {
        char node[CONNECTIONS_NAME]; /* "host:port" */
        uint32_t connections;
    } nodes[CONNECTIONS_NODES];
};

/* Adds the connections of one client of a Cluster; without a Cluster, none. */
void connections_add(struct connections *connections, const struct later_redis *redis);

/* Adds the counts of another process, which may be writing them now. */
void connections_add_all(struct connections *connections, const struct connections *more);

#endif
