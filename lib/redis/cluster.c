/* cluster.c: a Redis Cluster. */
#include "redis/cluster.h"
#include "redis/cluster_inner.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS 64

static void cluster_turn(struct later_cluster *cluster);

/* Answers all commands and closes all connections. The structs stay for the next connect. */
void later_cluster_disconnect(struct later_cluster *cluster, const char *why)
{
    char text[480];

    if (cluster->base.state == DOWN)
        return;
    snprintf(text, sizeof text, "%s", why);
    cluster->base.state = DOWN;
    for (int i = 0; i < cluster->nodes.count; i++) {
        struct node *node = &cluster->node[i];

        if (node->conn)
            later_redis_disconnect(node->conn, text);
        node->fd = -1;
        node->was_up = node->lost = false;
    }
    close(cluster->base.fd);
    cluster->base.fd = -1;
    cluster->asked = cluster->any = LATER_NO_NODE;
    cluster->news = cluster->troubled = false;
    later_cluster_give_up(cluster, text);
    if (cluster->base.options.down)
        cluster->base.options.down(cluster->base.options.arg, text);
}

/* --- sending --- */

static int cluster_send_command(struct later_redis *base, struct later_command *cmd, double timeout,
                                later_answer_fn *fn, void *arg)
{
    struct later_cluster *cluster = (struct later_cluster *)base;
    struct call *call = later_cluster_enter(cluster, cmd, timeout, fn, arg);

    return call ? later_cluster_pass_or_wait(cluster, call) : -1;
}

static int send_to(struct later_redis *base, size_t which, struct later_command *cmd,
                   double timeout, later_answer_fn *fn, void *arg)
{
    struct later_cluster *cluster = (struct later_cluster *)base;
    struct call *call = later_cluster_enter(cluster, cmd, timeout, fn, arg);

    if (!call)
        return -1;
    call->fixed = true;
    call->node = later_cluster_master_number(cluster, which);
    call->slot = LATER_NO_SLOT;
    return later_cluster_pass_or_wait(cluster, call);
}

/* --- the beginning: the slots, then the protocol --- */

/* If the node does not answer, or the ACL hides the number, we assume that it is our protocol. */
static void on_protocol(void *arg, struct later_answer *told)
{
    struct later_cluster *cluster = arg;
    char why[LATER_PROTOCOL_WHY];

    if (cluster->base.state != GREETING && cluster->base.state != UP)
        return;
    if (told->outcome == LATER_ANSWERED &&
        later_protocol_differs(later_reply_text(told->reply, NULL), cluster->base.protocol, why)) {
        cluster->base.other_protocol = true;
        later_cluster_disconnect(cluster, why);
        return;
    }
    cluster->news |= cluster->base.state == GREETING;
    cluster->base.state = UP;
}

static struct call *ask_protocol(struct later_cluster *cluster)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "GET %s", cluster->base.protocol);
    return later_cluster_enter(cluster, &cmd, ASK_SECONDS, on_protocol, cluster);
}

/* Nodes were away, and somebody may have upgraded meanwhile. Nobody waits for the answer: if this
 * node is away, the others go on. */
static void greet_again(struct later_cluster *cluster)
{
    struct call *call = cluster->base.protocol[0] ? ask_protocol(cluster) : NULL;

    if (call)
        (void)later_cluster_pass_or_wait(cluster, call);
}

static void greet(struct later_cluster *cluster)
{
    struct call *call;

    cluster->base.other_protocol = false;
    cluster->greeted = true;
    cluster->base.state = UP;
    cluster->news = true;
    if (!cluster->base.protocol[0])
        return;
    call = ask_protocol(cluster);
    if (!call)
        return;
    cluster->base.state = GREETING;
    later_cluster_append(cluster, call);
}

/* The seeds of the URL are nodes like any other. */
static int enter_seeds(struct later_cluster *cluster)
{
    for (unsigned i = 0; i < later_address_hosts(&cluster->base.options.address); i++) {
        struct later_address seed;
        int number;

        later_address_host(&cluster->base.options.address, i, &seed);
        number = later_nodes_enter(&cluster->nodes, seed.host, seed.port);
        if (number != LATER_NO_NODE)
            cluster->nodes.list[number].seed = true;
    }
    return cluster->nodes.count;
}

static int cluster_start(struct later_redis *base, struct later_error *err)
{
    struct later_cluster *cluster = (struct later_cluster *)base;
    if (cluster->base.state != DOWN)
        return 0;
    if (!enter_seeds(cluster))
        return later_fail(err, LATER_E_USAGE,
                          "redis url: no node; cluster://host:port,host:port names some");
    cluster->base.fd = epoll_create1(EPOLL_CLOEXEC);
    if (cluster->base.fd < 0)
        return later_fail(err, LATER_E_SYSTEM, "epoll: %m");
    for (int i = 0; i < cluster->nodes.count; i++) {
        cluster->node[i].asked = false;
        cluster->node[i].retry_at = 0;
    }
    cluster->base.state = SEEKING;
    cluster->wanted = true;
    cluster->wanted_at = 0;
    snprintf(cluster->why, sizeof cluster->why, "none was tried");
    cluster_turn(cluster);
    return 0;
}

/* --- for the owner's loop --- */

/* Does everything that follows from what has happened. */
static void cluster_turn(struct later_cluster *cluster)
{
    if (cluster->turning)
        return;
    cluster->turning = true;
    later_cluster_seek(cluster);
    if (cluster->base.state == FOUND)
        greet(cluster);
    later_cluster_pump(cluster);
    later_cluster_look(cluster);
    later_cluster_forget(cluster);
    for (int i = 0; i < cluster->nodes.count; i++)
        later_cluster_watch(cluster, i);
    cluster->turning = false;
    if (cluster->base.state == UP && cluster->news) {
        cluster->news = false;
        cluster->base.since = later_clock();
        if (!cluster->greeted)
            greet_again(cluster);
        cluster->greeted = false;
        if (cluster->base.options.up)
            cluster->base.options.up(cluster->base.options.arg);
    }
}

static void cluster_flush(struct later_redis *base)
{
    struct later_cluster *cluster = (struct later_cluster *)base;
    if (cluster->base.state == DOWN)
        return;
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn) {
            later_redis_flush(cluster->node[i].conn);
            later_cluster_watch(cluster, i);
        }
    }
}

static void handle(struct later_redis *base)
{
    struct later_cluster *cluster = (struct later_cluster *)base;
    struct epoll_event events[EVENTS];
    int count;

    if (cluster->base.state == DOWN)
        return;
    count = epoll_wait(cluster->base.fd, events, EVENTS, 0);
    for (int i = 0; i < count && cluster->base.state != DOWN; i++) {
        struct node *node = &cluster->node[events[i].data.u32 % LATER_NODES_MAX];

        if (node->conn)
            later_redis_handle(node->conn);
    }
    if (cluster->base.state != DOWN)
        cluster_turn(cluster);
    cluster_flush(base);
}

static void cluster_tick(struct later_redis *base)
{
    struct later_cluster *cluster = (struct later_cluster *)base;
    for (int i = 0; i < cluster->nodes.count && cluster->base.state != DOWN; i++) {
        if (cluster->node[i].conn)
            later_redis_tick(cluster->node[i].conn);
    }
    if (cluster->base.state != DOWN)
        cluster_turn(cluster);
    cluster_flush(base);
}

static double cluster_deadline_of(struct later_redis *base)
{
    const struct later_cluster *cluster = (const struct later_cluster *)base;
    double deadline = INFINITY;

    for (int i = 0; i < cluster->nodes.count; i++) {
        const struct node *node = &cluster->node[i];

        if (node->conn)
            deadline = fmin(deadline, later_redis_deadline(node->conn));
        if (node->conn && node->lost && later_redis_down(node->conn))
            deadline = fmin(deadline, node->retry_at);
    }
    deadline = fmin(deadline, later_cluster_next_try((struct later_cluster *)cluster));
    if (cluster->asked != LATER_NO_NODE)
        return fmin(deadline, cluster->asked_until);
    return cluster->wanted ? fmin(deadline, cluster->wanted_at) : deadline;
}

/* --- making and unmaking --- */

static void cluster_disconnect(struct later_redis *base, const char *why)
{
    later_cluster_disconnect((struct later_cluster *)base, why);
}

static void cluster_end(struct later_redis *base)
{
    struct later_cluster *cluster = (struct later_cluster *)base;

    for (int i = 0; i < LATER_NODES_MAX; i++)
        later_redis_free(cluster->node[i].conn);
}

static const struct later_redis_table table = { .new = later_cluster_new,
                                                .end = cluster_end,
                                                .connect = cluster_start,
                                                .disconnect = cluster_disconnect,
                                                .send = cluster_send_command,
                                                .flush = cluster_flush,
                                                .deadline = cluster_deadline_of,
                                                .handle = handle,
                                                .tick = cluster_tick,
                                                .masters = later_cluster_masters,
                                                .send_to = send_to,
                                                .has = later_cluster_has,
                                                .master = later_cluster_master,
                                                .connections = later_cluster_connections };

struct later_redis *later_cluster_new(const struct later_redis_options *options)
{
    struct later_cluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster || later_redis_init(&cluster->base, &table, options) < 0) {
        free(cluster);
        return NULL;
    }
    cluster->asked = cluster->any = cluster->last_asked = LATER_NO_NODE;
    cluster->last = &cluster->waiting;
    return &cluster->base;
}
