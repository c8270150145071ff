/*
 * redis_inner.h: what a server's connection (conn.c) and a Cluster (cluster.c) have in common, and
 * the table of what each does in its own way. For these and redis.c only.
 */
#ifndef LATER_REDIS_INNER_H
#define LATER_REDIS_INNER_H

#include "redis/key.h"
#include "redis/redis.h"
#include "redis/sentinel.h"

#define LATER_READ_SECONDS 1 /* half of what most calls may take */

/* Each is the call of the same name in redis.h. */
struct later_redis_table {
    struct later_redis *(*new)(const struct later_redis_options *options);
    void (*end)(struct later_redis *redis); /* frees its own data; called when it is down */
    int (*connect)(struct later_redis *redis, struct later_error *err);
    void (*disconnect)(struct later_redis *redis, const char *why);
    int (*send)(struct later_redis *redis, struct later_command *cmd, double timeout,
                later_answer_fn *fn, void *arg);
    void (*flush)(struct later_redis *redis);
    bool (*wants_write)(const struct later_redis *redis);
    double (*deadline)(struct later_redis *redis);
    void (*handle)(struct later_redis *redis);
    void (*tick)(struct later_redis *redis);
    /* Waits by a read for at most LATER_READ_SECONDS, and handles what has come; false: it cannot.
     * NULL for a Cluster. */
    bool (*read)(struct later_redis *redis);
    /* NULL for a single server. */
    size_t (*masters)(const struct later_redis *redis);
    int (*send_to)(struct later_redis *redis, size_t which, struct later_command *cmd,
                   double timeout, later_answer_fn *fn, void *arg);
    bool (*has)(const struct later_redis *redis, size_t which, int slot);
    void (*master)(const struct later_redis *redis, size_t which, char name[LATER_NODE_SIZE]);
    void (*connections)(const struct later_redis *redis, later_node_fn *fn, void *arg);
};

/* Between DOWN and UP, the first two are of a connection, the others of a Cluster. */
enum state { DOWN, CONNECTING, HANDSHAKE, SEEKING, FOUND, GREETING, UP };

/* The first member of struct later_conn and struct later_cluster. */
struct later_redis {
    const struct later_redis_table *table;
    struct later_redis_options options;
    char *password, *password_file; /* owned; NULL: none */
    char name[64];
    char protocol[LATER_KEY_MAX]; /* the key; "": not looked at */
    enum state state;
    bool other_protocol;
    int fd;                     /* a socket, or for a Cluster an epoll set; -1: down */
    int64_t id;                 /* of the connection; 0 = not known */
    size_t pending;             /* commands that have no answer yet */
    double since;               /* when `up` was last called */
    char peer[LATER_PEER_SIZE]; /* the Redis that a Sentinel has named; "" = not connected */
};

/* The password file may have another password by now: reads it, if there is one. */
void later_redis_read_password(struct later_redis *redis);

/* Fills *redis from options, down. Returns 0, or -1 without memory. */
int later_redis_init(struct later_redis *redis, const struct later_redis_table *table,
                     const struct later_redis_options *options);

#endif
