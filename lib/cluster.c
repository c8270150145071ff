/* cluster.c: a Redis Cluster. */
#include "cluster.h"

#include "clock.h"
#include "key.h"
#include "nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ASK_SECONDS   0.5  /* for a node to be connected and to say who has which slot */
#define ASK_AGAIN     0.2  /* between such questions */
#define FIRST_PAUSE   0.02 /* before a node, or a command, is tried again; doubling to … */
#define LONGEST_PAUSE 0.2
#define REDIRECTS_MAX 16
#define EVENTS        64

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
    unsigned redirects;
    later_answer_fn *fn;
    void *arg;
};

struct node {
    struct later_cluster *cluster;
    struct later_conn *conn; /* NULL: never needed */
    int fd;                  /* in the epoll set; -1: none */
    bool writing;            /* watched for writing, too */
    bool was_up, lost;       /* a connection that was up has broken, and is not back */
    bool asked;              /* in this round of questions */
    double retry_at, pause;
};

enum state { DOWN, SEEKING, FOUND, GREETING, UP };

struct later_cluster {
    struct later_redis_options options;
    char *password;
    char name[64], protocol[LATER_KEY_MAX];
    enum state state;
    bool too_new, closing;
    int fd; /* epoll; -1: down */
    struct later_nodes nodes;
    struct node node[LATER_NODES_MAX];
    struct call *waiting, **last; /* in the order of their coming */
    size_t pending;
    int any;            /* where commands without a key go */
    int asked;          /* this node was asked for the slots; LATER_NO_NODE: none is */
    bool asking;        /* the question is out */
    double asked_until; /* then the next one is asked */
    bool wanted;        /* the slots are to be asked for … */
    double wanted_at;   /* … not before */
    bool news;          /* `up` is to be called again */
    bool troubled;      /* … as soon as the slots are known, since a node was lost */
    bool turning;
    double since;  /* `up` was called */
    char why[256]; /* a node's last failure */
};

static void turn(struct later_cluster *cluster);

/* --- making and unmaking --- */

struct later_cluster *later_cluster_new(const struct later_redis_options *options)
{
    struct later_cluster *cluster = calloc(1, sizeof *cluster);

    if (!cluster)
        return NULL;
    cluster->options = *options;
    cluster->fd = -1;
    cluster->asked = cluster->any = LATER_NO_NODE;
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

bool later_cluster_too_new(const struct later_cluster *cluster)
{
    return cluster->too_new;
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

/* --- answers --- */

static void answer(struct call *call, struct later_answer *told)
{
    struct later_cluster *cluster = call->cluster;

    cluster->pending--;
    if (call->fn)
        call->fn(call->arg, told);
    later_command_free(&call->cmd);
    free(call);
}

static void answer_unsent(struct call *call, const char *why)
{
    answer(call, &(struct later_answer){
                     .outcome = LATER_UNSENT, .remedy = LATER_REMEDY_RECONNECT, .text = why });
}

static void append(struct later_cluster *cluster, struct call *call)
{
    call->next = NULL;
    *cluster->last = call;
    cluster->last = &call->next;
}

static struct call *take_waiting(struct later_cluster *cluster)
{
    struct call *list = cluster->waiting;

    cluster->waiting = NULL;
    cluster->last = &cluster->waiting;
    return list;
}

/* Asks for the slots soon. */
static void want_slots(struct later_cluster *cluster)
{
    if (!cluster->wanted)
        cluster->wanted_at = fmax(cluster->wanted_at, later_clock());
    cluster->wanted = true;
}

/* Answers everything, closes everything. The conns stay, for the next connect. */
static void end(struct later_cluster *cluster, const char *why)
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
    for (struct call *next, *call = take_waiting(cluster); call; call = next) {
        next = call->next;
        answer_unsent(call, text);
    }
    if (cluster->options.down && !cluster->closing)
        cluster->options.down(cluster->options.arg, text);
}

void later_cluster_disconnect(struct later_cluster *cluster, const char *why)
{
    end(cluster, why);
}

void later_cluster_free(struct later_cluster *cluster)
{
    if (!cluster)
        return;
    cluster->closing = true;
    end(cluster, "closed");
    for (int i = 0; i < LATER_NODES_MAX; i++)
        later_conn_free(cluster->node[i].conn);
    forget_password(cluster);
    free(cluster);
}

/* May it be tried again, after this pause? Then it waits. */
static bool wait_a_while(struct call *call, struct later_answer *told, double pause)
{
    struct later_cluster *cluster = call->cluster;

    if (cluster->state == DOWN || call->redirects >= REDIRECTS_MAX ||
        later_clock() + pause >= call->deadline)
        return false;
    call->redirects += call->fixed || pause == 0;
    call->again = later_clock() + pause;
    call->cmd = *told->cmd;
    *told->cmd = (struct later_command){ 0 };
    append(cluster, call);
    return true;
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Of an error that speaks of the Cluster. */
static bool redirected(struct call *call, struct later_answer *told)
{
    struct later_cluster *cluster = call->cluster;
    bool asked = begins(told->text, "ASK ");
    int slot, node;

    if (asked || begins(told->text, "MOVED ")) {
        node = later_nodes_redirected(&cluster->nodes, told->text, call->node, &slot);
        if (node == LATER_NO_NODE)
            return false;
        call->fixed = call->asking = asked;
        call->node = node;
        if (!asked) {
            later_nodes_move(&cluster->nodes, slot, node);
            want_slots(cluster);
        }
        return wait_a_while(call, told, 0);
    }
    if (!begins(told->text, "TRYAGAIN") && !begins(told->text, "CLUSTERDOWN") &&
        !begins(told->text, "LOADING") && !begins(told->text, "MASTERDOWN"))
        return false;
    call->fixed = call->asking = false;
    if (!begins(told->text, "TRYAGAIN"))
        want_slots(cluster);
    return wait_a_while(call, told, LONGEST_PAUSE / 4);
}

static void on_answer(void *arg, struct later_answer *told)
{
    struct call *call = arg;
    struct later_cluster *cluster = call->cluster;

    if (told->outcome == LATER_REFUSED && call->slot != LATER_NO_SLOT && redirected(call, told))
        return;
    if (told->outcome == LATER_UNSENT && !(call->fixed && !call->asking)) {
        call->fixed = call->asking = false;
        if (wait_a_while(call, told, FIRST_PAUSE))
            return;
    }
    if (told->outcome == LATER_UNKNOWN)
        want_slots(cluster);
    answer(call, told);
}

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

    snprintf(cluster->why, sizeof cluster->why, "%.100s:%s: %.100s",
             cluster->nodes.list[number].host, cluster->nodes.list[number].port, why);
    node->lost |= node->was_up;
    cluster->troubled |= node->was_up;
    node->was_up = false;
    node->fd = -1; /* closed, and so out of the set */
    node->retry_at = later_clock() + node->pause;
    node->pause = fmin(node->pause * 2, LONGEST_PAUSE);
    if (cluster->any == number)
        cluster->any = LATER_NO_NODE;
    want_slots(cluster);
}

static void on_message(void *arg, const char *channel, const char *text)
{
    const struct later_redis_options *options = &((struct node *)arg)->cluster->options;

    options->message(options->arg, channel, text);
}

static struct later_conn *conn_of(struct later_cluster *cluster, int number)
{
    struct node *node = &cluster->node[number];
    struct later_redis_options options = { .password = cluster->password,
                                           .name = cluster->name,
                                           .connect_timeout = cluster->options.connect_timeout,
                                           .message = cluster->options.message ? on_message : NULL,
                                           .up = on_node_up,
                                           .down = on_node_down,
                                           .arg = node };

    if (node->conn)
        return node->conn;
    strcpy(options.address.host, cluster->nodes.list[number].host);
    strcpy(options.address.port, cluster->nodes.list[number].port);
    strcpy(options.address.user, cluster->options.address.user);
    node->cluster = cluster;
    node->fd = -1;
    node->pause = FIRST_PAUSE;
    node->conn = later_conn_new(&options);
    return node->conn;
}

/* Enters its socket into the set, as it wants to be watched now. */
static void watch(struct later_cluster *cluster, int number)
{
    struct node *node = &cluster->node[number];
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)number };
    int fd = node->conn ? later_conn_fd(node->conn) : -1;
    bool writing = node->conn && later_conn_wants_write(node->conn);

    if (fd < 0 || cluster->fd < 0 || (fd == node->fd && writing == node->writing))
        return;
    if (writing)
        event.events |= EPOLLOUT;
    if (fd == node->fd)
        epoll_ctl(cluster->fd, EPOLL_CTL_MOD, fd, &event);
    else
        epoll_ctl(cluster->fd, EPOLL_CTL_ADD, fd, &event);
    node->fd = fd;
    node->writing = writing;
}

/* Is it connected? If not, it will be. */
static bool reach(struct later_cluster *cluster, int number)
{
    struct later_conn *conn = conn_of(cluster, number);
    struct node *node = &cluster->node[number];
    struct later_error err;

    if (!conn)
        return false;
    if (later_conn_down(conn) && later_clock() >= node->retry_at &&
        later_conn_connect(conn, &err) < 0)
        on_node_down(node, err.text);
    return later_conn_up(conn);
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
    for (int i = 0; i < cluster->nodes.count; i++)
        cluster->node[i].asked = false;
    if (cluster->state == SEEKING)
        cluster->state = FOUND;
}

/* Who is asked next: one that is connected, else one that may be tried, in this round. */
static int whom_to_ask(struct later_cluster *cluster)
{
    int other = LATER_NO_NODE;

    for (int i = 0; i < cluster->nodes.count; i++) {
        struct node *node = &cluster->node[i];

        if (node->asked)
            continue;
        if (node->conn && later_conn_up(node->conn))
            return i;
        if (other == LATER_NO_NODE || node->retry_at < cluster->node[other].retry_at)
            other = i;
    }
    return other;
}

static bool any_up(const struct later_cluster *cluster)
{
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn && later_conn_up(cluster->node[i].conn))
            return true;
    }
    return false;
}

static void ask(struct later_cluster *cluster, int number)
{
    struct later_command cmd = { 0 };

    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "CLUSTER");
    later_command_text(&cmd, "SLOTS");
    cluster->asking =
        later_conn_send(cluster->node[number].conn, &cmd, LATER_NO_SCRIPT,
                        cluster->options.connect_timeout, on_slots, &cluster->node[number]) == 0;
}

/* The next one; behind the last, from the first on, or it is over. */
static void ask_next(struct later_cluster *cluster)
{
    char why[300];

    cluster->asking = false;
    cluster->asked = whom_to_ask(cluster);
    if (cluster->asked != LATER_NO_NODE) {
        cluster->node[cluster->asked].asked = true;
        cluster->node[cluster->asked].retry_at = 0;
        cluster->asked_until = later_clock() + ASK_SECONDS;
        return;
    }
    for (int i = 0; i < cluster->nodes.count; i++)
        cluster->node[i].asked = false;
    cluster->wanted_at = later_clock() + ASK_AGAIN;
    if (cluster->state == UP && any_up(cluster))
        return;
    snprintf(why, sizeof why, "no node of the Cluster answers; the last: %.250s", cluster->why);
    end(cluster, why);
}

static void seek(struct later_cluster *cluster)
{
    double now = later_clock();

    if (cluster->asked == LATER_NO_NODE) {
        if (!cluster->wanted || now < cluster->wanted_at)
            return;
        ask_next(cluster);
    }
    while (cluster->asked != LATER_NO_NODE && cluster->state != DOWN) {
        struct node *node = &cluster->node[cluster->asked];

        if (cluster->asking && now < cluster->asked_until)
            return;
        if (!cluster->asking && now < cluster->asked_until) {
            if (reach(cluster, cluster->asked))
                ask(cluster, cluster->asked);
            else if (!node->conn || later_conn_down(node->conn))
                cluster->asked_until = 0;
            if (cluster->asked_until > 0)
                return;
        }
        ask_next(cluster);
    }
}

/* --- sending --- */

/* Where commands without a key go. */
static int any_node(struct later_cluster *cluster)
{
    if (cluster->any != LATER_NO_NODE)
        return cluster->any;
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn && later_conn_up(cluster->node[i].conn)) {
            cluster->any = i;
            return i;
        }
    }
    return LATER_NO_NODE;
}

static int node_for(struct later_cluster *cluster, const struct call *call)
{
    if (call->fixed)
        return call->node;
    return call->slot == LATER_NO_SLOT ? any_node(cluster)
                                       : later_nodes_of(&cluster->nodes, call->slot);
}

enum passed { PASSED, STAYS, FAILED };

/* Gives it to its node's connection, if that is up. FAILED: no memory, the bytes are gone. */
static enum passed pass(struct later_cluster *cluster, struct call *call)
{
    int number = node_for(cluster, call);
    struct later_command asking = { 0 };
    double left = call->deadline - later_clock();
    struct later_conn *conn;

    if (number == LATER_NO_NODE || !reach(cluster, number))
        return STAYS;
    conn = cluster->node[number].conn;
    if (call->asking) {
        later_command_begin(&asking, 1);
        later_command_text(&asking, "ASKING");
        if (later_conn_send(conn, &asking, LATER_NO_SCRIPT, left, NULL, NULL) < 0)
            return FAILED;
    }
    call->node = number;
    return later_conn_send(conn, &call->cmd, call->script, left, on_answer, call) < 0 ? FAILED
                                                                                      : PASSED;
}

/* Its node is away, or is not the right one any more: others may know. */
static bool is_stuck(struct later_cluster *cluster, const struct call *call)
{
    int number = node_for(cluster, call);

    return number == LATER_NO_NODE || !cluster->node[number].conn ||
           later_conn_down(cluster->node[number].conn) ||
           later_clock() - call->since > LONGEST_PAUSE;
}

/* Passes on what waits, in its order. An answer may send more meanwhile: that comes behind. */
static void pump(struct later_cluster *cluster)
{
    struct call *call = take_waiting(cluster), *next, *kept = NULL, **kept_last = &kept;

    for (; call; call = next) {
        double now = later_clock();
        enum passed passed = STAYS;

        next = call->next;
        if (cluster->state == DOWN || now >= call->deadline) {
            answer_unsent(call, cluster->state == DOWN ? "closed" : "no node took it in time");
            continue;
        }
        if (now >= call->again) {
            passed = pass(cluster, call);
            if (passed == STAYS && is_stuck(cluster, call))
                want_slots(cluster);
        }
        if (passed == FAILED)
            answer_unsent(call, "no memory");
        if (passed != STAYS)
            continue;
        call->next = NULL;
        *kept_last = call;
        kept_last = &call->next;
    }
    if (!kept)
        return;
    *kept_last = cluster->waiting;
    if (!cluster->waiting)
        cluster->last = kept_last;
    cluster->waiting = kept;
}

static struct call *enter(struct later_cluster *cluster, struct later_command *cmd, int script,
                          double timeout, later_answer_fn *fn, void *arg)
{
    struct call *call = later_command_ready(cmd) ? calloc(1, sizeof *call) : NULL;

    if (!call) {
        later_command_free(cmd);
        return NULL;
    }
    *call = (struct call){ .cluster = cluster,
                           .cmd = *cmd,
                           .script = script,
                           .slot = later_slot_of_command(cmd),
                           .node = LATER_NO_NODE,
                           .since = later_clock(),
                           .deadline = later_clock() + timeout,
                           .fn = fn,
                           .arg = arg };
    *cmd = (struct later_command){ 0 };
    cluster->pending++;
    return call;
}

static int pass_or_wait(struct later_cluster *cluster, struct call *call)
{
    enum passed passed = cluster->waiting || cluster->turning ? STAYS : pass(cluster, call);

    if (passed == STAYS)
        append(cluster, call);
    if (passed != FAILED)
        return 0;
    cluster->pending--;
    later_command_free(&call->cmd);
    free(call);
    return -1;
}

int later_cluster_send(struct later_cluster *cluster, struct later_command *cmd, int script,
                       double timeout, later_answer_fn *fn, void *arg)
{
    struct call *call = NULL;

    if (cluster->state == UP)
        call = enter(cluster, cmd, script, timeout, fn, arg);
    else
        later_command_free(cmd);
    if (!call)
        return -1;
    return pass_or_wait(cluster, call);
}

size_t later_cluster_masters(const struct later_cluster *cluster)
{
    size_t count = 0;

    for (int i = 0; i < cluster->nodes.count; i++)
        count += cluster->nodes.list[i].master;
    return count;
}

/* The node that is number `which` of the masters; LATER_NO_NODE where there are not so many. */
static int master(const struct later_cluster *cluster, size_t which)
{
    int node = 0;

    while (node < cluster->nodes.count && (!cluster->nodes.list[node].master || which-- > 0))
        node++;
    return node < cluster->nodes.count ? node : LATER_NO_NODE;
}

bool later_cluster_has(const struct later_cluster *cluster, size_t which, int slot)
{
    int node = master(cluster, which);

    return node != LATER_NO_NODE && later_nodes_of(&cluster->nodes, slot) == node;
}

static void name_node(const struct later_cluster *cluster, int node, char name[LATER_NODE_SIZE])
{
    snprintf(name, LATER_NODE_SIZE, "%s:%s", cluster->nodes.list[node].host,
             cluster->nodes.list[node].port);
}

void later_cluster_master(const struct later_cluster *cluster, size_t which,
                          char name[LATER_NODE_SIZE])
{
    int node = master(cluster, which);

    name[0] = '\0';
    if (node != LATER_NO_NODE)
        name_node(cluster, node, name);
}

void later_cluster_connections(const struct later_cluster *cluster, later_node_fn *fn, void *arg)
{
    char name[LATER_NODE_SIZE];

    for (int i = 0; i < cluster->nodes.count; i++) {
        if (!cluster->node[i].conn || !later_conn_up(cluster->node[i].conn))
            continue;
        name_node(cluster, i, name);
        fn(arg, name);
    }
}

int later_cluster_send_to(struct later_cluster *cluster, size_t which, struct later_command *cmd,
                          double timeout, later_answer_fn *fn, void *arg)
{
    struct call *call = NULL;
    int node = master(cluster, which);

    if (cluster->state == UP && node != LATER_NO_NODE)
        call = enter(cluster, cmd, LATER_NO_SCRIPT, timeout, fn, arg);
    else
        later_command_free(cmd);
    if (!call)
        return -1;
    call->fixed = true;
    call->node = node;
    call->slot = LATER_NO_SLOT;
    return pass_or_wait(cluster, call);
}

/* --- the beginning: the slots, then the protocol --- */

/* Where its node does not answer, or the ACL hides it, it is taken for ours. */
static void on_protocol(void *arg, struct later_answer *told)
{
    struct later_cluster *cluster = arg;
    char why[200];

    if (cluster->state != GREETING)
        return;
    if (told->outcome == LATER_ANSWERED &&
        later_protocol_newer(later_reply_text(told->reply, NULL))) {
        cluster->too_new = true;
        snprintf(why, sizeof why,
                 "a newer later keeps its jobs there (%.100s is %.20s, we know %d); install that "
                 "version",
                 cluster->protocol, later_reply_text(told->reply, NULL), LATER_PROTOCOL);
        end(cluster, why);
        return;
    }
    cluster->state = UP;
    cluster->news = true;
}

static void greet(struct later_cluster *cluster)
{
    struct later_command cmd = { 0 };
    struct call *call;

    cluster->too_new = false;
    cluster->state = UP;
    cluster->news = true;
    if (!cluster->protocol[0])
        return;
    later_command_begin(&cmd, 2);
    later_command_text(&cmd, "GET");
    later_command_text(&cmd, cluster->protocol);
    call = enter(cluster, &cmd, LATER_NO_SCRIPT, ASK_SECONDS, on_protocol, cluster);
    if (!call)
        return;
    cluster->state = GREETING;
    append(cluster, call);
}

/* The seeds of the URL are nodes like any other. */
static int enter_seeds(struct later_cluster *cluster)
{
    for (unsigned i = 0; i < later_address_hosts(&cluster->options.address); i++) {
        struct later_address seed;

        later_address_host(&cluster->options.address, i, &seed);
        (void)later_nodes_enter(&cluster->nodes, seed.host, seed.port);
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
    seek(cluster);
    if (cluster->state == FOUND)
        greet(cluster);
    if (cluster->waiting)
        pump(cluster);
    for (int i = 0; i < cluster->nodes.count; i++)
        watch(cluster, i);
    cluster->turning = false;
    if (cluster->state == UP && cluster->news) {
        cluster->news = false;
        cluster->since = later_clock();
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
            watch(cluster, i);
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

/* When a command that waits is worth a look: when it is over, when it may be tried again, when its
 * node may. */
static double call_deadline(struct later_cluster *cluster, const struct call *call)
{
    int number = node_for(cluster, call);
    double next = call->deadline;

    if (later_clock() < call->again)
        return fmin(next, call->again);
    if (later_clock() < call->since + LONGEST_PAUSE)
        next = fmin(next, call->since + LONGEST_PAUSE);
    if (number != LATER_NO_NODE && cluster->node[number].conn &&
        later_conn_down(cluster->node[number].conn))
        next = fmin(next, cluster->node[number].retry_at);
    return next;
}

double later_cluster_deadline(const struct later_cluster *cluster)
{
    double deadline = INFINITY;

    if (cluster->state == DOWN)
        return INFINITY;
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn)
            deadline = fmin(deadline, later_conn_deadline(cluster->node[i].conn));
    }
    for (const struct call *call = cluster->waiting; call; call = call->next)
        deadline = fmin(deadline, call_deadline((struct later_cluster *)cluster, call));
    if (cluster->asked != LATER_NO_NODE)
        return fmin(deadline, cluster->asked_until);
    return cluster->wanted ? fmin(deadline, cluster->wanted_at) : deadline;
}
