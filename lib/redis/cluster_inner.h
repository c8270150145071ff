/*
 * cluster_inner.h: what cluster.c, cluster_call.c and cluster_node.c share, and nobody else.
 *
 * One turn (cluster.c) does everything that follows from what has happened: it asks for the slots
 * if they are wanted, passes on waiting commands, and watches sockets. Callbacks of connections
 * only note what they learn, or put their command back among the waiting ones. So no callback runs
 * within another.
 */
#ifndef LATER_CLUSTER_INNER_H
#define LATER_CLUSTER_INNER_H

#include "redis/nodes.h"
#include "redis/redis_inner.h"

#define ASK_SECONDS   0.5  /* for a node to be connected and to say who has which slot */
#define FIRST_PAUSE   0.02 /* before a node, or a command, is tried again; doubling to … */
#define LONGEST_PAUSE 0.2

/* A command: with its bytes while it waits here, without while a connection has them. */
struct call {
    struct call *next;
    struct later_cluster *cluster;
    struct later_command cmd;
    int slot;
    int node;                      /* where it was sent, or has to go (fixed) */
    bool fixed;                    /* only there: ASK, later_redis_send_to() */
    bool asking;                   /* after ASKING */
    double since, again, deadline; /* when it came; when it may be tried; when its time is over */
    double timeout;
    unsigned redirects; /* in a row */
    later_answer_fn *fn;
    void *arg;
};

struct node {
    struct later_cluster *cluster;
    struct later_redis *conn; /* NULL: never needed */
    int fd;                   /* in the epoll set; -1: none */
    bool writing;             /* watched for writing, too */
    bool was_up, lost;        /* was_up: it was up; lost: and is away now, so `up` is owed */
    bool asked;               /* it was asked in this round */
    double retry_at, pause;
};

struct later_cluster {
    struct later_redis base;
    struct later_nodes nodes;
    struct node node[LATER_NODES_MAX];
    struct call *waiting, **last; /* in the order in which they came */
    int any;                      /* where commands without a key go */
    int asked;                    /* the node that was asked for the slots; LATER_NO_NODE: none */
    bool asking;                  /* the question has no answer yet */
    double asked_until;           /* then the next one is asked */
    bool wanted;                  /* ask for the slots … */
    double wanted_at;             /* … not before */
    int last_asked;               /* the node that was asked last … */
    bool doubt;                   /* … did not help: ask the next one, connected or not */
    bool news;                    /* `up` is to be called again */
    bool troubled;                /* … as soon as the slots are known, since a node was lost */
    bool greeted;                 /* the protocol was just asked for */
    bool turning;
    char why[420]; /* a node's last failure */
};

/* The Cluster cannot be reached: answers all commands and closes all connections. */
void later_cluster_disconnect(struct later_cluster *cluster, const char *why);

/* --- cluster_call.c: commands */

/* Takes *cmd as a call with this deadline; it is pending from now on. NULL without memory. */
struct call *later_cluster_enter(struct later_cluster *cluster, struct later_command *cmd,
                                 double timeout, later_answer_fn *fn, void *arg);

/* The call waits, after the others, until the next turn; or is sent at once if no other call waits
 * for its slot. The latter returns 0, or -1 without memory; then the call is gone. */
void later_cluster_append(struct later_cluster *cluster, struct call *call);
int later_cluster_pass_or_wait(struct later_cluster *cluster, struct call *call);

/* Passes on what waits, in its order. */
void later_cluster_pump(struct later_cluster *cluster);

/* Answers all waiting commands: UNSENT, with this reason. */
void later_cluster_give_up(struct later_cluster *cluster, const char *why);

/* When a command that waits is worth a look: when it is over, when it may be tried again, when its
 * node may. INFINITY: none waits. */
double later_cluster_next_try(struct later_cluster *cluster);

/* --- cluster_node.c: connections, and who has which slot */

/* Is the node connected? If not, connects it. */
bool later_cluster_reach(struct later_cluster *cluster, int number);

/* Functions of the table. */
size_t later_cluster_masters(const struct later_redis *base);
bool later_cluster_has(const struct later_redis *base, size_t which, int slot);
void later_cluster_master(const struct later_redis *base, size_t which, char name[LATER_NODE_SIZE]);
void later_cluster_connections(const struct later_redis *base, later_node_fn *fn, void *arg);

/* Returns the node that is number `which` of the masters; LATER_NO_NODE if there are fewer. */
int later_cluster_master_number(const struct later_cluster *cluster, size_t which);

/* Connect to masters that were lost; close nodes that are gone. */
void later_cluster_look(struct later_cluster *cluster);
void later_cluster_forget(struct later_cluster *cluster);

/* Enters its socket into the epoll set, with the events that it waits for. */
void later_cluster_watch(struct later_cluster *cluster, int number);

/* Requests that the slots are asked for soon. */
void later_cluster_want(struct later_cluster *cluster);

/* Asks for the slots if that was requested, one node after another. If none answers, disconnects.
 */
void later_cluster_seek(struct later_cluster *cluster);

#endif
