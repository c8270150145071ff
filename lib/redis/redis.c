/* redis.c: one server, or a Cluster. */
#include "redis/redis.h"

#include "base/clock.h"
#include "redis/cluster.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>

/* One of the two. */
struct later_redis {
    struct later_conn *conn;
    struct later_cluster *cluster;
};

static struct later_redis *made(struct later_conn *conn, struct later_cluster *cluster)
{
    struct later_redis *redis = conn || cluster ? malloc(sizeof *redis) : NULL;

    if (redis) {
        *redis = (struct later_redis){ conn, cluster };
        return redis;
    }
    later_conn_free(conn);
    later_cluster_free(cluster);
    return NULL;
}

struct later_redis *later_redis_new(const struct later_redis_options *options)
{
    return options->address.cluster ? made(NULL, later_cluster_new(options))
                                    : made(later_conn_new(options), NULL);
}

struct later_redis *later_redis_twin(const struct later_redis *redis)
{
    return redis->cluster ? made(NULL, later_cluster_twin(redis->cluster))
                          : made(later_conn_twin(redis->conn), NULL);
}

void later_redis_free(struct later_redis *redis)
{
    if (!redis)
        return;
    later_conn_free(redis->conn);
    later_cluster_free(redis->cluster);
    free(redis);
}

int later_redis_password(struct later_redis *redis, const char *password)
{
    return redis->cluster ? later_cluster_password(redis->cluster, password)
                          : later_conn_password(redis->conn, password);
}

const char *later_redis_peer(const struct later_redis *redis)
{
    return redis->cluster ? "" : later_conn_peer(redis->conn);
}

int later_redis_connect(struct later_redis *redis, struct later_error *err)
{
    return redis->cluster ? later_cluster_connect(redis->cluster, err)
                          : later_conn_connect(redis->conn, err);
}

void later_redis_disconnect(struct later_redis *redis, const char *why)
{
    if (redis->cluster)
        later_cluster_disconnect(redis->cluster, why);
    else
        later_conn_disconnect(redis->conn, why);
}

bool later_redis_up(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_up(redis->cluster) : later_conn_up(redis->conn);
}

bool later_redis_down(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_down(redis->cluster) : later_conn_down(redis->conn);
}

bool later_redis_other_protocol(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_other_protocol(redis->cluster)
                          : later_conn_other_protocol(redis->conn);
}

int64_t later_redis_id(const struct later_redis *redis)
{
    return redis->cluster ? 0 : later_conn_id(redis->conn);
}

double later_redis_since(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_since(redis->cluster) : later_conn_since(redis->conn);
}

int later_redis_send(struct later_redis *redis, struct later_command *cmd, int script,
                     double timeout, later_answer_fn *fn, void *arg)
{
    return redis->cluster ? later_cluster_send(redis->cluster, cmd, script, timeout, fn, arg)
                          : later_conn_send(redis->conn, cmd, script, timeout, fn, arg);
}

bool later_redis_is_cluster(const struct later_redis *redis)
{
    return redis->cluster != NULL;
}

size_t later_redis_masters(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_masters(redis->cluster) : 0;
}

int later_redis_send_to(struct later_redis *redis, size_t which, struct later_command *cmd,
                        double timeout, later_answer_fn *fn, void *arg)
{
    if (redis->cluster)
        return later_cluster_send_to(redis->cluster, which, cmd, timeout, fn, arg);
    later_command_free(cmd);
    return -1;
}

bool later_redis_has(const struct later_redis *redis, size_t which, int slot)
{
    return redis->cluster && later_cluster_has(redis->cluster, which, slot);
}

void later_redis_master(const struct later_redis *redis, size_t which, char name[LATER_NODE_SIZE])
{
    name[0] = '\0';
    if (redis->cluster)
        later_cluster_master(redis->cluster, which, name);
}

void later_redis_connections(const struct later_redis *redis, later_node_fn *fn, void *arg)
{
    if (redis->cluster)
        later_cluster_connections(redis->cluster, fn, arg);
}

size_t later_redis_pending(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_pending(redis->cluster) : later_conn_pending(redis->conn);
}

void later_redis_flush(struct later_redis *redis)
{
    if (redis->cluster)
        later_cluster_flush(redis->cluster);
    else
        later_conn_flush(redis->conn);
}

int later_redis_fd(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_fd(redis->cluster) : later_conn_fd(redis->conn);
}

bool later_redis_wants_write(const struct later_redis *redis)
{
    return !redis->cluster && later_conn_wants_write(redis->conn);
}

double later_redis_deadline(const struct later_redis *redis)
{
    return redis->cluster ? later_cluster_deadline(redis->cluster)
                          : later_conn_deadline(redis->conn);
}

void later_redis_handle(struct later_redis *redis)
{
    if (redis->cluster)
        later_cluster_handle(redis->cluster);
    else
        later_conn_handle(redis->conn);
}

void later_redis_tick(struct later_redis *redis)
{
    if (redis->cluster)
        later_cluster_tick(redis->cluster);
    else
        later_conn_tick(redis->conn);
}

void later_redis_wait(struct later_redis *redis, double until)
{
    struct pollfd poller = { .fd = later_redis_fd(redis), .events = POLLIN };
    double deadline, wait;

    if (later_redis_down(redis))
        return;
    later_redis_flush(redis);
    if (later_redis_wants_write(redis))
        poller.events |= POLLOUT;
    deadline = later_redis_deadline(redis);
    wait = (deadline < until ? deadline : until) - later_clock();
    wait = wait < 0 ? 0 : wait > 3600 ? 3600 : wait;
    if (poll(&poller, 1, (int)ceil(wait * 1000)) > 0)
        later_redis_handle(redis);
    later_redis_tick(redis);
}
