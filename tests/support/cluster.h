/*
 * cluster.h: a Redis Cluster of a test's own: six redis-server processes on free ports of
 * 127.0.0.1, three masters (0, 1, 2) with a third of the slots each, in order, and a replica of
 * each (3, 4, 5), until a test changes that. All of it dies with the process that started it,
 * however that ends.
 *
 *     struct cluster cluster;
 *
 *     if (cluster_start(&cluster, 0, NULL) < 0)
 *         return 99;
 *     int master = cluster_master_of_key(&cluster, "later:{default}:ready");
 *     cluster_kill(&cluster, master);
 *     int now = cluster_await_master(&cluster, cluster_slot("later:{default}:ready"), master, 15);
 *     ...
 *     cluster_stop(&cluster);
 *
 * A node is a number, 0 to 5. Calls that return bool say on stdout, as a TAP comment, why it is
 * false.
 */
#ifndef TESTS_SUPPORT_CLUSTER_H
#define TESTS_SUPPORT_CLUSTER_H

#include "node.h"
#include "ports.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/types.h>

#define CLUSTER_MASTERS 3
#define CLUSTER_NODES   (2 * CLUSTER_MASTERS)
#define CLUSTER_SLOTS   16384

struct cluster {
    struct ports ports;          /* ports.port[n]: of node n */
    pid_t pid[CLUSTER_NODES];    /* 0: not running */
    bool stopped[CLUSTER_NODES]; /* by SIGSTOP */
    char id[CLUSTER_NODES][41];
    char folder[NODE_FOLDER]; /* with redis0/ to redis5/, and in each conf, log, nodes.conf */
    unsigned node_timeout;
    char url[160]; /* cluster://127.0.0.1:PORT,… of all six */
};

/* Starts all nodes and waits until each says cluster_state:ok, knows the role of each other node,
 * and each replica copies: about 3 s. node_timeout: cluster-node-timeout in milliseconds, 0 = 1000.
 * options: lines for the redis.conf of each, or NULL. Returns 0; or -1 with the reason on stdout
 * and nothing left behind. */
int cluster_start(struct cluster *cluster, unsigned node_timeout, const char *options);

/* Stops all nodes and starts them again with these options and the data that they have written.
 * Returns 0, or -1 with the reason on stdout. */
int cluster_again(struct cluster *cluster, const char *options);

/* Stops what runs and removes its folder. */
void cluster_stop(struct cluster *cluster);

unsigned cluster_port(const struct cluster *cluster, int n);

/* --- who is who */

/* Returns the slot of a key, by CLUSTER KEYSLOT of a running node, or -1 if none answers. */
int cluster_slot(const struct cluster *cluster, const char *key);

/* Returns the node that calls itself master of this slot. If several do, because one was cut off,
 * it is the one with the highest configuration epoch. -1 = none of those that run. */
int cluster_master(const struct cluster *cluster, int slot);
int cluster_master_of_key(const struct cluster *cluster, const char *key);

/* Returns a running node that calls itself a replica of `master`, or -1. */
int cluster_replica(const struct cluster *cluster, int master);

/* Waits until the slot has another master than `old` (-1: any), and all running nodes agree as
 * cluster_settled() asks. Returns the master, or -1 after `seconds`. */
int cluster_await_master(const struct cluster *cluster, int slot, int old, double seconds);

/* Waits until node n knows all six by name. Returns false after `seconds`. */
bool cluster_acquainted(const struct cluster *cluster, int n, double seconds);

/* Waits until each running node says cluster_state:ok, knows the role of each other running node,
 * and copies if it is a replica. Returns false after `seconds`. */
bool cluster_settled(const struct cluster *cluster, double seconds);

/* --- things that happen to a node */

/* Kills it and waits for its end. */
void cluster_kill(struct cluster *cluster, int n);
/* Starts it again with its nodes.conf. A master without an append-only file is then empty. Waits
 * until it answers PING. */
bool cluster_restart(struct cluster *cluster, int n);
/* SIGSTOP and SIGCONT. */
void cluster_pause(struct cluster *cluster, int n);
void cluster_resume(struct cluster *cluster, int n);

/* CLUSTER FAILOVER: this replica becomes master, and nothing is lost. Waits until all agree. */
bool cluster_failover(struct cluster *cluster, int replica);

/* Moves a slot with its keys, in use, from its master to the master `to`: all three steps below. */
bool cluster_move(struct cluster *cluster, int slot, int to);

/* SETSLOT IMPORTING and MIGRATING. From now on the old master answers ASK for keys that it does not
 * have, or TRYAGAIN if it has only some of a command's keys. */
bool cluster_move_begin(struct cluster *cluster, int slot, int to);
/* MIGRATE for at most `most` keys (0: all). */
bool cluster_move_keys(struct cluster *cluster, int slot, int to, unsigned most);
/* SETSLOT NODE at the new master, then at the others. Waits until all agree. */
bool cluster_move_end(struct cluster *cluster, int slot, int to);

/* --- a command to a node */

/* As redisCommand(), with its %s, %d and %b. The caller owns the answer. NULL if there was none
 * within 2 s. */
redisReply *cluster_ask(const struct cluster *cluster, int n, const char *format, ...);
/* Returns whether the command succeeded. */
bool cluster_do(const struct cluster *cluster, int n, const char *format, ...);
/* Says how long a node may be silent before its replica takes over. Where nothing is killed that
 * should be CLUSTER_QUIET, or more: a master may wait for a processor. Returns whether all know. */
bool cluster_set_node_timeout(const struct cluster *cluster, double seconds);
#define CLUSTER_QUIET 15.0
/* Returns a connection to the node, which the caller frees with redisFree(), or NULL. */
redisContext *cluster_connect(const struct cluster *cluster, int n);

#endif
