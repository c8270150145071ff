/*
 * cluster.h: a Redis Cluster: a connection (conn.h) for each node that is needed, behind one
 * descriptor. What redis.h makes of a cluster: URL; each call is the one of the same name there.
 *
 * A command goes to the node that has its slot (slot.h); one without a key to any node, the same as
 * long as that one answers. Where a node answers
 *   MOVED      it goes where it says, and CLUSTER SLOTS is asked for behind it,
 *   ASK        it goes there once, behind ASKING,
 *   TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN, READONLY, UNBLOCKED, or cannot be reached
 *              it waits, and is tried again with what the other nodes say by then,
 * until its own timeout is over. A command whose bytes may have arrived is never repeated: it is
 * UNKNOWN. (Redis Cluster specification, "Redirection and resharding".) Commands of one slot keep
 * their order, unless they are redirected.
 *
 * The descriptor is an epoll(7) one that holds the nodes' sockets: readable when any of them wants
 * something.
 */
#ifndef LATER_CLUSTER_H
#define LATER_CLUSTER_H

#include "redis/conn.h"

struct later_cluster;

struct later_cluster *later_cluster_new(const struct later_redis_options *options);
struct later_cluster *later_cluster_twin(const struct later_cluster *cluster);
void later_cluster_free(struct later_cluster *cluster);
int later_cluster_password(struct later_cluster *cluster, const char *password);
int later_cluster_connect(struct later_cluster *cluster, struct later_error *err);
void later_cluster_disconnect(struct later_cluster *cluster, const char *why);
bool later_cluster_up(const struct later_cluster *cluster);
bool later_cluster_down(const struct later_cluster *cluster);
bool later_cluster_other_protocol(const struct later_cluster *cluster);
double later_cluster_since(const struct later_cluster *cluster);
int later_cluster_send(struct later_cluster *cluster, struct later_command *cmd, int script,
                       double timeout, later_answer_fn *fn, void *arg);
size_t later_cluster_pending(const struct later_cluster *cluster);
void later_cluster_flush(struct later_cluster *cluster);
int later_cluster_fd(const struct later_cluster *cluster);
double later_cluster_deadline(const struct later_cluster *cluster);
void later_cluster_handle(struct later_cluster *cluster);
void later_cluster_tick(struct later_cluster *cluster);

/* How many masters it has, as far as is known; and a command for number `which` of them, whatever
 * its key: for what is asked of each server (INFO). Returns as later_cluster_send(). */
size_t later_cluster_masters(const struct later_cluster *cluster);
int later_cluster_send_to(struct later_cluster *cluster, size_t which, struct later_command *cmd,
                          double timeout, later_answer_fn *fn, void *arg);
bool later_cluster_has(const struct later_cluster *cluster, size_t which, int slot);
void later_cluster_master(const struct later_cluster *cluster, size_t which,
                          char name[LATER_NODE_SIZE]);
void later_cluster_connections(const struct later_cluster *cluster, later_node_fn *fn, void *arg);

#endif
