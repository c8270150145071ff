/* cluster_move.c: replaces masters and moves slots in a test's Cluster. */
#include "cluster.h"

#include <stdio.h>
#include <string.h>

#define MOVE_SECONDS 30.0
#define FAILOVERS    5
#define GIVEN_UP     6.0 /* seconds: Redis gives a failover up after five (CLUSTER_MF_TIMEOUT) */
#define BATCH        100u

struct wait {
    const struct cluster *cluster;
    int n;
};

static bool is_master(void *what)
{
    const struct wait *wait = what;

    return node_says(cluster_port(wait->cluster, wait->n), "INFO replication", "role:master", NULL);
}

bool cluster_failover(struct cluster *cluster, int replica)
{
    struct wait wait = { .cluster = cluster, .n = replica };

    /* On a busy machine Redis gives it up, and has to be asked again. */
    for (int i = 0; i < FAILOVERS; i++) {
        if (!is_master(&wait) && !cluster_do(cluster, replica, "CLUSTER FAILOVER"))
            return false;
        if (node_await(is_master, &wait, GIVEN_UP))
            return cluster_settled(cluster, MOVE_SECONDS);
    }
    printf("# node %d does not become master\n", replica);
    return false;
}

bool cluster_move(struct cluster *cluster, int slot, int to)
{
    return cluster_move_begin(cluster, slot, to) && cluster_move_keys(cluster, slot, to, 0) &&
           cluster_move_end(cluster, slot, to);
}

bool cluster_move_begin(struct cluster *cluster, int slot, int to)
{
    int from = cluster_master(cluster, slot);

    if (from < 0 || from == to) {
        printf("# slot %d cannot move from node %d to node %d\n", slot, from, to);
        return false;
    }
    return cluster_do(cluster, to, "CLUSTER SETSLOT %d IMPORTING %s", slot, cluster->id[from]) &&
           cluster_do(cluster, from, "CLUSTER SETSLOT %d MIGRATING %s", slot, cluster->id[to]);
}

/* One command moves all of these keys, so that no script finds half of them. */
static bool migrate(const struct cluster *cluster, redisContext *redis, int to,
                    const redisReply *keys)
{
    char port[8];
    const char *words[7 + BATCH] = { "MIGRATE", "127.0.0.1", port, "", "0", "5000", "KEYS" };
    size_t lens[7 + BATCH];
    redisReply *reply;
    bool good;

    snprintf(port, sizeof port, "%u", cluster_port(cluster, to));
    for (size_t i = 0; i < 7; i++)
        lens[i] = strlen(words[i]);
    for (size_t i = 0; i < keys->elements; i++) {
        words[7 + i] = keys->element[i]->str;
        lens[7 + i] = keys->element[i]->len;
    }
    reply = redisCommandArgv(redis, (int)(7 + keys->elements), words, lens);
    good = node_good((unsigned)redis->tcp.port, "MIGRATE", reply);
    freeReplyObject(reply);
    return good;
}

/* Returns how many keys it has moved, or -1. */
static int move_some(const struct cluster *cluster, redisContext *redis, int slot, int to,
                     unsigned most)
{
    redisReply *keys = redisCommand(redis, "CLUSTER GETKEYSINSLOT %d %u", slot, most);
    int moved = -1;

    if (node_good((unsigned)redis->tcp.port, "CLUSTER GETKEYSINSLOT", keys) &&
        (keys->elements == 0 || migrate(cluster, redis, to, keys)))
        moved = (int)keys->elements;
    freeReplyObject(keys);
    return moved;
}

bool cluster_move_keys(struct cluster *cluster, int slot, int to, unsigned most)
{
    int from = cluster_master(cluster, slot), moved;
    redisContext *redis = from < 0 ? NULL : cluster_connect(cluster, from);
    unsigned left = most ? most : ~0u;

    if (!redis) {
        printf("# nobody answers who has slot %d\n", slot);
        return false;
    }
    do {
        moved = move_some(cluster, redis, slot, to, left < BATCH ? left : BATCH);
        left -= moved > 0 ? (unsigned)moved : 0;
    } while (moved > 0 && left > 0);
    redisFree(redis);
    return moved >= 0;
}

/* The new master is told first. Otherwise the slot would belong to nobody if that node died now. */
bool cluster_move_end(struct cluster *cluster, int slot, int to)
{
    const char *const format = "CLUSTER SETSLOT %d NODE %s";
    int from = cluster_master(cluster, slot);

    if (!cluster_do(cluster, to, format, slot, cluster->id[to]) ||
        (from >= 0 && !cluster_do(cluster, from, format, slot, cluster->id[to])))
        return false;
    if (cluster_await_master(cluster, slot, -1, MOVE_SECONDS) == to)
        return true;
    printf("# slot %d is not node %d's\n", slot, to);
    return false;
}
