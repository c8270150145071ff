/*
 * cluster_inner.h: what cluster.c, cluster_call.c and cluster_node.c share, and nobody else.
 *
 * One turn (cluster.c) does all that follows from what has happened: asks for the slots if somebody
 * wanted them, passes on commands that wait, watches sockets. Answers of connections only note what
 * they have to say, or put their command back among those that wait; so nothing is done inside out.
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
    int script, slot;
    int node;                      /* where it was sent to, or is to go (fixed) */
    bool fixed;                    /* only there: ASK, later_cluster_send_to() */
    bool asking;                   /* behind ASKING */
    double since, again, deadline; /* it came; it is not tried before; nobody waits any more */
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
    bool was_up, lost;        /* it was needed, is away, and is not back: `up` is owed */
    bool asked;               /* in this round of questions */
    double retry_at, pause;
};

struct later_cluster {
    struct later_redis base;
    struct later_nodes nodes;
    struct node node[LATER_NODES_MAX];
    struct call *waiting, **last; /* in the order of their coming */
    int any;                      /* where commands without a key go */
    int asked;                    /* this node was asked for the slots; LATER_NO_NODE: none is */
    bool asking;                  /* the question is out */
    double asked_until;           /* then the next one is asked */
    bool wanted;                  /* the slots are to be asked for … */
    double wanted_at;             /* … not before */
    int last_asked;               /* who was asked last … */
    bool doubt;    /* … and did not help: the next one is asked, connected or not */
    bool news;     /* `up` is to be called again */
    bool troubled; /* … as soon as the slots are known, since a node was lost */
    bool greeted;  /* the protocol has just been asked for */
    bool turning;
    char why[256]; /* a node's last failure */
};

/* It is over: answers everything, closes everything. */
void later_cluster_disconnect(struct later_cluster *cluster, const char *why);

/* --- cluster_call.c: commands */

/* Takes *cmd as a call that is answered by then; it is pending from now on. NULL without memory. */
struct call *later_cluster_enter(struct later_cluster *cluster, struct later_command *cmd,
                                 int script, double timeout, later_answer_fn *fn, void *arg);

/* It waits, behind the others, until the next turn; or is sent at once, if none of its slot waits.
 * The latter returns 0, or -1 without memory: then the call is gone. */
void later_cluster_append(struct later_cluster *cluster, struct call *call);
int later_cluster_pass_or_wait(struct later_cluster *cluster, struct call *call);

/* Passes on what waits, in its order. */
void later_cluster_pump(struct later_cluster *cluster);

/* Answers all that wait: UNSENT, for this reason. */
void later_cluster_give_up(struct later_cluster *cluster, const char *why);

/* When a command that waits is worth a look: when it is over, when it may be tried again, when its
 * node may. INFINITY: none waits. */
double later_cluster_next_try(struct later_cluster *cluster);

/* --- cluster_node.c: connections, and who has which slot */

/* Is it connected? If not, it will be. */
bool later_cluster_reach(struct later_cluster *cluster, int number);

/* Of the table. */
size_t later_cluster_masters(const struct later_redis *base);
bool later_cluster_has(const struct later_redis *base, size_t which, int slot);
void later_cluster_master(const struct later_redis *base, size_t which, char name[LATER_NODE_SIZE]);
void later_cluster_connections(const struct later_redis *base, later_node_fn *fn, void *arg);

/* The node that is number `which` of the masters; LATER_NO_NODE where there are not so many. */
int later_cluster_master_number(const struct later_cluster *cluster, size_t which);

/* Connects to masters that were lost; lets go of nodes that are gone. */
void later_cluster_look(struct later_cluster *cluster);
void later_cluster_forget(struct later_cluster *cluster);

/* Enters its socket into the set, as it wants to be watched now. */
void later_cluster_watch(struct later_cluster *cluster, int number);

/* The slots are to be asked for, soon. */
void later_cluster_want(struct later_cluster *cluster);

/* Asks for them, if they are wanted: one node after another. Where none answers all is over. */
void later_cluster_seek(struct later_cluster *cluster);

#endif
