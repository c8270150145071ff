/* cluster.c: a Redis Cluster. */
#include "redis/cluster_inner.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS 64

static void turn(struct later_cluster *cluster);

/* --- making and unmaking --- */

struct later_cluster *later_cluster_new(const struct later_redis_options *options)
{
    struct later_cluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster)
        return NULL;
    cluster->options = *options;
    cluster->fd = -1;
    cluster->asked = cluster->any = cluster->last_asked = LATER_NO_NODE;
    cluster->last = &cluster->waiting;
    if (cluster->options.connect_timeout <= 0)
        cluster->options.connect_timeout = 2;
    if (options->name)
        snprintf(cluster->name, sizeof cluster->name, "%s", options->name);
    if (options->protocol)
        snprintf(cluster->protocol, sizeof cluster->protocol, "%s", options->protocol);
    if (later_cluster_password(cluster, options->password) < 0) {
        free(cluster);
        return NULL;
    }
    return cluster;
}

struct later_cluster *later_cluster_twin(const struct later_cluster *cluster)
{
    return later_cluster_new(
        &(struct later_redis_options){ .address = cluster->options.address,
                                       .password = cluster->password,
                                       .name = cluster->name,
                                       .connect_timeout = cluster->options.connect_timeout });
}

static void forget_password(struct later_cluster *cluster)
{
    if (cluster->password)
        explicit_bzero(cluster->password, strlen(cluster->password));
    free(cluster->password);
    cluster->password = NULL;
}

int later_cluster_password(struct later_cluster *cluster, const char *password)
{
    char *copy = password ? strdup(password) : NULL;
    int status = password && !copy ? -1 : 0;

    if (status < 0)
        return -1;
    forget_password(cluster);
    cluster->password = copy;
    for (int i = 0; i < LATER_NODES_MAX; i++) {
        if (cluster->node[i].conn && later_conn_password(cluster->node[i].conn, password) < 0)
            status = -1;
    }
    return status;
}

bool later_cluster_up(const struct later_cluster *cluster)
{
    return cluster->state == UP;
}

bool later_cluster_down(const struct later_cluster *cluster)
{
    return cluster->state == DOWN;
}

bool later_cluster_other_protocol(const struct later_cluster *cluster)
{
    return cluster->other_protocol;
}

double later_cluster_since(const struct later_cluster *cluster)
{
    return cluster->since;
}

size_t later_cluster_pending(const struct later_cluster *cluster)
{
    return cluster->pending;
}

int later_cluster_fd(const struct later_cluster *cluster)
{
    return cluster->fd;
}

/* Answers everything, closes everything. The conns stay, for the next connect. */
void later_cluster_disconnect(struct later_cluster *cluster, const char *why)
{
    char text[256];

    if (cluster->state == DOWN)
        return;
    snprintf(text, sizeof text, "%s", why);
    cluster->state = DOWN;
    for (int i = 0; i < cluster->nodes.count; i++) {
        struct node *node = &cluster->node[i];

        if (node->conn)
            later_conn_disconnect(node->conn, text);
        node->fd = -1;
        node->was_up = node->lost = false;
    }
    close(cluster->fd);
    cluster->fd = -1;
    cluster->asked = cluster->any = LATER_NO_NODE;
    cluster->news = cluster->troubled = false;
    later_cluster_give_up(cluster, text);
    if (cluster->options.down && !cluster->closing)
        cluster->options.down(cluster->options.arg, text);
}

void later_cluster_free(struct later_cluster *cluster)
{
    if (!cluster)
        return;
    cluster->closing = true;
    later_cluster_disconnect(cluster, "closed");
    for (int i = 0; i < LATER_NODES_MAX; i++)
        later_conn_free(cluster->node[i].conn);
    forget_password(cluster);
    free(cluster);
}

/* --- sending --- */

int later_cluster_send(struct later_cluster *cluster, struct later_command *cmd, int script,
                       double timeout, later_answer_fn *fn, void *arg)
{
    struct call *call = NULL;

    if (cluster->state == UP)
        call = later_cluster_enter(cluster, cmd, script, timeout, fn, arg);
    else
        later_command_free(cmd);
    if (!call)
        return -1;
    return later_cluster_pass_or_wait(cluster, call);
}

int later_cluster_send_to(struct later_cluster *cluster, size_t which, struct later_command *cmd,
                          double timeout, later_answer_fn *fn, void *arg)
{
    struct call *call = NULL;
    int node = later_cluster_master_number(cluster, which);

    if (cluster->state == UP && node != LATER_NO_NODE)
        call = later_cluster_enter(cluster, cmd, LATER_NO_SCRIPT, timeout, fn, arg);
    else
        later_command_free(cmd);
    if (!call)
        return -1;
    call->fixed = true;
    call->node = node;
    call->slot = LATER_NO_SLOT;
    return later_cluster_pass_or_wait(cluster, call);
}

/* --- the beginning: the slots, then the protocol --- */

/* Where its node does not answer, or the ACL hides it, it is taken for ours. */
static void on_protocol(void *arg, struct later_answer *told)
{
    struct later_cluster *cluster = arg;
    char why[LATER_PROTOCOL_WHY];

    if (cluster->state != GREETING && cluster->state != UP)
        return;
    if (told->outcome == LATER_ANSWERED &&
        later_protocol_differs(later_reply_text(told->reply, NULL), cluster->protocol, why)) {
        cluster->other_protocol = true;
        later_cluster_disconnect(cluster, why);
        return;
    }
    cluster->news |= cluster->state == GREETING;
    cluster->state = UP;
}

static struct call *ask_protocol(struct later_cluster *cluster)
{
    struct later_command cmd = { 0 };

    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "GET");
    later_command_text(&cmd, cluster->protocol);
    return later_cluster_enter(cluster, &cmd, LATER_NO_SCRIPT, ASK_SECONDS, on_protocol, cluster);
}

/* Nodes were away, and others may have upgraded meanwhile. Nobody waits for the answer: its node
 * may be the one that is away, and the others go on. */
static void greet_again(struct later_cluster *cluster)
{
    struct call *call = cluster->protocol[0] ? ask_protocol(cluster) : NULL;

    if (call)
        (void)later_cluster_pass_or_wait(cluster, call);
}

static void greet(struct later_cluster *cluster)
{
    struct call *call;

    cluster->other_protocol = false;
    cluster->greeted = true;
    cluster->state = UP;
    cluster->news = true;
    if (!cluster->protocol[0])
        return;
    call = ask_protocol(cluster);
    if (!call)
        return;
    cluster->state = GREETING;
    later_cluster_append(cluster, call);
}

/* The seeds of the URL are nodes like any other. */
static int enter_seeds(struct later_cluster *cluster)
{
    for (unsigned i = 0; i < later_address_hosts(&cluster->options.address); i++) {
        struct later_address seed;
        int number;

        later_address_host(&cluster->options.address, i, &seed);
        number = later_nodes_enter(&cluster->nodes, seed.host, seed.port);
        if (number != LATER_NO_NODE)
            cluster->nodes.list[number].seed = true;
    }
    return cluster->nodes.count;
}

int later_cluster_connect(struct later_cluster *cluster, struct later_error *err)
{
    if (cluster->state != DOWN)
        return 0;
    if (!enter_seeds(cluster))
        return later_fail(err, LATER_E_USAGE, "redis url: no node");
    cluster->fd = epoll_create1(EPOLL_CLOEXEC);
    if (cluster->fd < 0)
        return later_fail(err, LATER_E_SYSTEM, "epoll: %m");
    for (int i = 0; i < cluster->nodes.count; i++) {
        cluster->node[i].asked = false;
        cluster->node[i].retry_at = 0;
    }
    cluster->state = SEEKING;
    cluster->wanted = true;
    cluster->wanted_at = 0;
    snprintf(cluster->why, sizeof cluster->why, "none was tried");
    turn(cluster);
    return 0;
}

/* --- for the owner's loop --- */

/* All that follows from what has happened. */
static void turn(struct later_cluster *cluster)
{
    if (cluster->turning)
        return;
    cluster->turning = true;
    later_cluster_seek(cluster);
    if (cluster->state == FOUND)
        greet(cluster);
    later_cluster_pump(cluster);
    later_cluster_look(cluster);
    later_cluster_forget(cluster);
    for (int i = 0; i < cluster->nodes.count; i++)
        later_cluster_watch(cluster, i);
    cluster->turning = false;
    if (cluster->state == UP && cluster->news) {
        cluster->news = false;
        cluster->since = later_clock();
        if (!cluster->greeted)
            greet_again(cluster);
        cluster->greeted = false;
        if (cluster->options.up)
            cluster->options.up(cluster->options.arg);
    }
}

void later_cluster_flush(struct later_cluster *cluster)
{
    if (cluster->state == DOWN)
        return;
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn) {
            later_conn_flush(cluster->node[i].conn);
            later_cluster_watch(cluster, i);
        }
    }
}

void later_cluster_handle(struct later_cluster *cluster)
{
    struct epoll_event events[EVENTS];
    int count;

    if (cluster->state == DOWN)
        return;
    count = epoll_wait(cluster->fd, events, EVENTS, 0);
    for (int i = 0; i < count && cluster->state != DOWN; i++) {
        struct node *node = &cluster->node[events[i].data.u32 % LATER_NODES_MAX];

        if (node->conn)
            later_conn_handle(node->conn);
    }
    if (cluster->state != DOWN)
        turn(cluster);
    later_cluster_flush(cluster);
}

void later_cluster_tick(struct later_cluster *cluster)
{
    for (int i = 0; i < cluster->nodes.count && cluster->state != DOWN; i++) {
        if (cluster->node[i].conn)
            later_conn_tick(cluster->node[i].conn);
    }
    if (cluster->state != DOWN)
        turn(cluster);
    later_cluster_flush(cluster);
}

double later_cluster_deadline(const struct later_cluster *cluster)
{
    double deadline = INFINITY;

    if (cluster->state == DOWN)
        return INFINITY;
    for (int i = 0; i < cluster->nodes.count; i++) {
        const struct node *node = &cluster->node[i];

        if (node->conn)
            deadline = fmin(deadline, later_conn_deadline(node->conn));
        if (node->conn && node->lost && later_conn_down(node->conn))
            deadline = fmin(deadline, node->retry_at);
    }
    deadline = fmin(deadline, later_cluster_next_try((struct later_cluster *)cluster));
    if (cluster->asked != LATER_NO_NODE)
        return fmin(deadline, cluster->asked_until);
    return cluster->wanted ? fmin(deadline, cluster->wanted_at) : deadline;
}
