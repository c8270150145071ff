/* cluster_node.c: connections to the nodes of a Cluster; who has which slot. */
#include "redis/cluster_inner.h"
#include "redis/conn.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define ASK_AGAIN 0.2 /* between questions for the slots */

/* --- nodes --- */

static void on_node_up(void *arg)
{
    struct node *node = arg;

    node->pause = FIRST_PAUSE;
    node->cluster->news |= node->lost;
    node->was_up = true;
    node->lost = false;
}

static void on_node_down(void *arg, const char *why)
{
    struct node *node = arg;
    struct later_cluster *cluster = node->cluster;
    int number = (int)(node - cluster->node);

    snprintf(cluster->why, sizeof cluster->why, "%.100s:%s: %.300s",
             cluster->nodes.list[number].host, cluster->nodes.list[number].port, why);
    node->lost |= node->was_up;
    cluster->troubled |= node->was_up;
    node->was_up = false;
    node->fd = -1; /* closed, and so out of the set */
    node->retry_at = later_clock() + node->pause;
    node->pause = fmin(node->pause * 2, LONGEST_PAUSE);
    if (cluster->any == number)
        cluster->any = LATER_NO_NODE;
    later_cluster_want(cluster);
}

static void cluster_node_on_message(void *arg, const char *channel, const char *text)
{
    const struct later_redis_options *options = &((struct node *)arg)->cluster->base.options;

    options->message(options->arg, channel, text);
}

static struct later_redis *conn_of(struct later_cluster *cluster, int number)
{
    struct node *node = &cluster->node[number];
    struct later_redis_options options = { .password = cluster->base.password,
                                           .password_file = cluster->base.password_file,
                                           .name = cluster->base.name,
                                           .connect_timeout = cluster->base.options.connect_timeout,
                                           .message = cluster->base.options.message
                                                          ? cluster_node_on_message
                                                          : NULL,
                                           .up = on_node_up,
                                           .down = on_node_down,
                                           .arg = node };

    if (node->conn)
        return node->conn;
    strcpy(options.address.host, cluster->nodes.list[number].host);
    strcpy(options.address.port, cluster->nodes.list[number].port);
    strcpy(options.address.user, cluster->base.options.address.user);
    options.address.tls = cluster->base.options.address.tls;
    node->cluster = cluster;
    node->fd = -1;
    node->pause = FIRST_PAUSE;
    node->conn = later_conn_new(&options);
    return node->conn;
}

/* Enters its socket into the epoll set, with the events that it waits for. */
void later_cluster_watch(struct later_cluster *cluster, int number)
{
    struct node *node = &cluster->node[number];
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)number };
    int fd = node->conn ? later_redis_fd(node->conn) : -1;
    bool writing = node->conn && later_redis_wants_write(node->conn);

    if (fd < 0 || cluster->base.fd < 0 || (fd == node->fd && writing == node->writing))
        return;
    if (writing)
        event.events |= EPOLLOUT;
    /* The descriptor may have been closed, which took it out of the set, and opened again. */
    if (epoll_ctl(cluster->base.fd, EPOLL_CTL_MOD, fd, &event) < 0)
        epoll_ctl(cluster->base.fd, EPOLL_CTL_ADD, fd, &event);
    node->fd = fd;
    node->writing = writing;
}

/* Is the node connected? If not, connects it. */
bool later_cluster_reach(struct later_cluster *cluster, int number)
{
    struct later_redis *conn = conn_of(cluster, number);
    struct node *node = &cluster->node[number];
    struct later_error err;

    if (!conn)
        return false;
    if (later_redis_down(conn) && later_clock() >= node->retry_at &&
        later_redis_connect(conn, &err) < 0)
        on_node_down(node, err.text);
    return later_redis_up(conn);
}

/* Reconnects to a master that was needed, even if no command waits for it: whoever lost commands
 * there waits for `up`. */
void later_cluster_look(struct later_cluster *cluster)
{
    for (int i = 0; i < cluster->nodes.count && cluster->base.state == UP; i++) {
        if (!cluster->node[i].lost)
            continue;
        if (cluster->nodes.list[i].master)
            (void)later_cluster_reach(cluster, i);
        else
            cluster->node[i].lost = false;
    }
}

/* Closes nodes that no longer belong to the Cluster, unless a command is bound for them. */
void later_cluster_forget(struct later_cluster *cluster)
{
    for (int i = 0; i < cluster->nodes.count && !cluster->waiting; i++) {
        struct node *node = &cluster->node[i];

        if (i == cluster->asked || i == cluster->any || !later_nodes_is_gone(&cluster->nodes, i) ||
            (node->conn && later_redis_pending(node->conn) > 0))
            continue;
        later_redis_free(node->conn); /* calls no `down` */
        *node = (struct node){ .fd = -1 };
        later_nodes_forget(&cluster->nodes, i);
    }
}

/* Asks for the slots soon. */
void later_cluster_want(struct later_cluster *cluster)
{
    if (!cluster->wanted)
        cluster->wanted_at = fmax(cluster->wanted_at, later_clock());
    cluster->wanted = true;
}

/* --- who has which slot --- */

static void on_slots(void *arg, struct later_answer *told)
{
    struct node *node = arg;
    struct later_cluster *cluster = node->cluster;
    int number = (int)(node - cluster->node), moved;

    if (cluster->asked != number)
        return; /* too late */
    cluster->asking = false;
    moved = told->outcome == LATER_ANSWERED ? later_nodes_take(&cluster->nodes, told->reply, number)
                                            : -1;
    if (moved < 0) {
        snprintf(cluster->why, sizeof cluster->why, "%.100s:%s: CLUSTER SLOTS: %.100s",
                 cluster->nodes.list[number].host, cluster->nodes.list[number].port,
                 told->outcome == LATER_ANSWERED ? "no slots" : told->text);
        cluster->asked_until = 0; /* the next one */
        return;
    }
    cluster->asked = LATER_NO_NODE;
    cluster->wanted = false;
    cluster->wanted_at = later_clock() + ASK_AGAIN;
    cluster->news |= moved || cluster->troubled;
    cluster->troubled = false;
    cluster->doubt = cluster->doubt && !moved;
    for (int i = 0; i < cluster->nodes.count; i++)
        cluster->node[i].asked = false;
    if (cluster->base.state == SEEKING)
        cluster->base.state = FOUND;
}

/* Chooses the node to ask next among those not asked in this round: one that is connected, else the
 * one that may be tried first. If the last answer did not help, it is the next in turn, since the
 * node that we are connected to may be cut off from the others. */
static int whom_to_ask(struct later_cluster *cluster)
{
    int count = cluster->nodes.count, other = LATER_NO_NODE;

    for (int step = 1; step <= count; step++) {
        int i = (cluster->last_asked + step + count) % count;
        struct node *node = &cluster->node[i];

        if (node->asked || !cluster->nodes.list[i].host[0])
            continue;
        if (cluster->doubt || (node->conn && later_redis_up(node->conn)))
            return i;
        if (other == LATER_NO_NODE || node->retry_at < cluster->node[other].retry_at)
            other = i;
    }
    return other;
}

static bool any_up(const struct later_cluster *cluster)
{
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn && later_redis_up(cluster->node[i].conn))
            return true;
    }
    return false;
}

static void cluster_node_ask(struct later_cluster *cluster, int number)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "CLUSTER SLOTS");
    cluster->asking =
        later_redis_send(cluster->node[number].conn, &cmd, cluster->base.options.connect_timeout,
                         on_slots, &cluster->node[number]) == 0;
}

/* Asks the next node. After the last one, begins again or disconnects. */
static void cluster_node_ask_next(struct later_cluster *cluster)
{
    char why[480];

    cluster->asking = false;
    cluster->asked = whom_to_ask(cluster);
    if (cluster->asked != LATER_NO_NODE) {
        cluster->last_asked = cluster->asked;
        cluster->node[cluster->asked].asked = true;
        cluster->node[cluster->asked].retry_at = 0;
        cluster->asked_until = later_clock() + ASK_SECONDS;
        return;
    }
    for (int i = 0; i < cluster->nodes.count; i++)
        cluster->node[i].asked = false;
    cluster->wanted_at = later_clock() + ASK_AGAIN;
    if (cluster->base.state == UP && any_up(cluster))
        return;
    snprintf(why, sizeof why, "no node of the Cluster answers; the last: %.410s", cluster->why);
    later_cluster_disconnect(cluster, why);
}

void later_cluster_seek(struct later_cluster *cluster)
{
    double now = later_clock();

    if (cluster->asked == LATER_NO_NODE) {
        if (!cluster->wanted || now < cluster->wanted_at)
            return;
        cluster_node_ask_next(cluster);
    }
    while (cluster->asked != LATER_NO_NODE && cluster->base.state != DOWN) {
        struct node *node = &cluster->node[cluster->asked];

        if (cluster->asking && now < cluster->asked_until)
            return;
        if (!cluster->asking && now < cluster->asked_until) {
            if (later_cluster_reach(cluster, cluster->asked))
                cluster_node_ask(cluster, cluster->asked);
            else if (!node->conn || later_redis_down(node->conn))
                cluster->asked_until = 0;
            if (cluster->asked_until > 0)
                return;
        }
        cluster_node_ask_next(cluster);
    }
}

size_t later_cluster_masters(const struct later_redis *base)
{
    const struct later_cluster *cluster = (const struct later_cluster *)base;
    size_t count = 0;

    for (int i = 0; i < cluster->nodes.count; i++)
        count += cluster->nodes.list[i].master;
    return count;
}

int later_cluster_master_number(const struct later_cluster *cluster, size_t which)
{
    int node = 0;

    while (node < cluster->nodes.count && (!cluster->nodes.list[node].master || which-- > 0))
        node++;
    return node < cluster->nodes.count ? node : LATER_NO_NODE;
}

bool later_cluster_has(const struct later_redis *base, size_t which, int slot)
{
    const struct later_cluster *cluster = (const struct later_cluster *)base;
    int node = later_cluster_master_number(cluster, which);

    return node != LATER_NO_NODE && later_nodes_of(&cluster->nodes, slot) == node;
}

static void name_node(const struct later_cluster *cluster, int node, char name[LATER_NODE_SIZE])
{
    snprintf(name, LATER_NODE_SIZE, "%s:%s", cluster->nodes.list[node].host,
             cluster->nodes.list[node].port);
}

void later_cluster_master(const struct later_redis *base, size_t which, char name[LATER_NODE_SIZE])
{
    const struct later_cluster *cluster = (const struct later_cluster *)base;
    int node = later_cluster_master_number(cluster, which);

    if (node != LATER_NO_NODE)
        name_node(cluster, node, name);
}

void later_cluster_connections(const struct later_redis *base, later_node_fn *fn, void *arg)
{
    const struct later_cluster *cluster = (const struct later_cluster *)base;
    char name[LATER_NODE_SIZE];

    for (int i = 0; i < cluster->nodes.count; i++) {
        if (!cluster->node[i].conn || !later_redis_up(cluster->node[i].conn))
            continue;
        name_node(cluster, i, name);
        fn(arg, name);
    }
}
