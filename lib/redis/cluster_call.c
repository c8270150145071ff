/* cluster_call.c: sends commands to the nodes of a Cluster. */
#include "redis/cluster_inner.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_LEFT    0.3 /* seconds for an answer: without one the connection is closed */
#define QUICK         4   /* redirections in a row that are followed at once */
#define REDIRECTS_MAX 16  /* … at all */

/* --- answers --- */

static void cluster_call_answer(struct call *call, struct later_answer *told)
{
    struct later_cluster *cluster = call->cluster;

    cluster->base.pending--;
    if (call->fn)
        call->fn(call->arg, told);
    later_command_free(&call->cmd);
    free(call);
}

static void answer_unsent(struct call *call, const char *why)
{
    cluster_call_answer(call, &(struct later_answer){ .outcome = LATER_UNSENT,
                                                      .remedy = LATER_REMEDY_RECONNECT,
                                                      .text = why });
}

void later_cluster_append(struct later_cluster *cluster, struct call *call)
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

void later_cluster_give_up(struct later_cluster *cluster, const char *why)
{
    for (struct call *next, *call = take_waiting(cluster); call; call = next) {
        next = call->next;
        answer_unsent(call, why);
    }
}

/* Keeps the command, to be tried again after this pause if its time allows. */
static bool wait_a_while(struct call *call, struct later_answer *told, double pause)
{
    struct later_cluster *cluster = call->cluster;

    if (cluster->base.state == DOWN || later_clock() + pause >= call->deadline)
        return false;
    call->again = later_clock() + pause;
    call->cmd = *told->cmd;
    *told->cmd = (struct later_command){ 0 };
    later_cluster_append(cluster, call);
    return true;
}

static bool cluster_call_begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Follows a redirection. While a slot moves, two nodes may redirect to each other for a moment. */
static bool cluster_call_follow(struct call *call, struct later_answer *told)
{
    if (++call->redirects > REDIRECTS_MAX)
        return false;
    return wait_a_while(call, told,
                        call->redirects <= QUICK
                            ? 0
                            : fmin(FIRST_PAUSE * (call->redirects - QUICK), LONGEST_PAUSE));
}

static bool redirected(struct call *call, struct later_answer *told)
{
    struct later_cluster *cluster = call->cluster;
    bool once = cluster_call_begins(told->text, "ASK ");
    int slot, node;

    if (!once && !cluster_call_begins(told->text, "MOVED "))
        return false;
    node = later_nodes_redirected(&cluster->nodes, told->text, call->node, &slot);
    if (node == LATER_NO_NODE)
        return false;
    call->fixed = call->asking = once;
    call->node = node;
    if (!once) {
        later_nodes_move(&cluster->nodes, slot, node);
        later_cluster_want(cluster);
    }
    return cluster_call_follow(call, told);
}

/* Tries again after an error that says that nothing was done and that it may work soon, here or at
 * another node. */
static bool put_off(struct call *call, struct later_answer *told)
{
    struct later_cluster *cluster = call->cluster;

    if (!later_reply_away(told->text))
        return false;
    if (!cluster_call_begins(
            told->text,
            "TRYAGAIN")) { /* during a move the slot still belongs to the node in the map */
        cluster->doubt = true;
        later_cluster_want(cluster);
    }
    call->fixed = call->asking = false;
    call->redirects = 0;
    snprintf(cluster->why, sizeof cluster->why, "%s", told->text);
    return wait_a_while(call, told, LONGEST_PAUSE / 4);
}

static void cluster_call_on_answer(void *arg, struct later_answer *told)
{
    struct call *call = arg;
    struct later_cluster *cluster = call->cluster;

    if (told->outcome == LATER_REFUSED && call->slot != LATER_NO_SLOT &&
        (redirected(call, told) || put_off(call, told)))
        return;
    if (told->outcome == LATER_UNSENT && !(call->fixed && !call->asking)) {
        call->fixed = call->asking = false;
        if (wait_a_while(call, told, FIRST_PAUSE))
            return;
    }
    if (told->outcome == LATER_UNKNOWN)
        later_cluster_want(cluster);
    cluster_call_answer(call, told);
}

/* --- sending --- */

/* Returns the node for commands without a key. */
static int any_node(struct later_cluster *cluster)
{
    if (cluster->any != LATER_NO_NODE)
        return cluster->any;
    for (int i = 0; i < cluster->nodes.count; i++) {
        if (cluster->node[i].conn && later_redis_up(cluster->node[i].conn)) {
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

/* Passes it to its node's connection, if that is up. FAILED: no memory, and the bytes are gone. */
static enum passed cluster_call_pass(struct later_cluster *cluster, struct call *call)
{
    int number = node_for(cluster, call);
    struct later_command asking = { 0 };
    double left = fmin(call->timeout, fmax(call->deadline - later_clock(), LEAST_LEFT));
    struct later_redis *conn;

    if (number == LATER_NO_NODE || !later_cluster_reach(cluster, number))
        return STAYS;
    conn = cluster->node[number].conn;
    if (call->asking) {
        later_command_say(&asking, "ASKING");
        if (later_redis_send(conn, &asking, left, NULL, NULL) < 0)
            return FAILED;
    }
    call->node = number;
    return later_redis_send(conn, &call->cmd, left, cluster_call_on_answer, call) < 0 ? FAILED
                                                                                      : PASSED;
}

/* Is its node away, or no longer the right one? Then others may know. */
static bool is_stuck(struct later_cluster *cluster, const struct call *call)
{
    int number = node_for(cluster, call);

    return number == LATER_NO_NODE || !cluster->node[number].conn ||
           later_redis_down(cluster->node[number].conn) ||
           later_clock() - call->since > LONGEST_PAUSE;
}

/* No node took it in time. From now on its node is looked for, so that `up` is called when it is
 * back. */
static void expire(struct later_cluster *cluster, struct call *call)
{
    int number = cluster->base.state == DOWN ? LATER_NO_NODE : node_for(cluster, call);
    char why[300];

    snprintf(why, sizeof why,
             "no node of the Cluster took it in time; the last that failed: %.200s", cluster->why);
    if (number != LATER_NO_NODE && cluster->node[number].conn &&
        !later_redis_up(cluster->node[number].conn))
        cluster->node[number].lost = true;
    cluster->doubt = true;
    answer_unsent(call, why);
}

/* Tries to pass on a waiting command. Returns false if it goes on waiting. */
static bool pump_one(struct later_cluster *cluster, struct call *call)
{
    double now = later_clock();
    enum passed passed;

    if (cluster->base.state == DOWN || now >= call->deadline) {
        expire(cluster, call);
        return true;
    }
    if (now < call->again)
        return false;
    passed = cluster_call_pass(cluster, call);
    if (passed == STAYS && is_stuck(cluster, call))
        later_cluster_want(cluster);
    if (passed == FAILED)
        answer_unsent(call, "no memory");
    return passed != STAYS;
}

/* Passes on the waiting commands, in their order. An answer may send more meanwhile; these come
 * after, and are tried as well. */
void later_cluster_pump(struct later_cluster *cluster)
{
    struct call *kept = NULL, **kept_last = &kept;

    while (cluster->waiting) {
        for (struct call *next, *call = take_waiting(cluster); call; call = next) {
            next = call->next;
            if (pump_one(cluster, call))
                continue;
            call->next = NULL;
            *kept_last = call;
            kept_last = &call->next;
        }
    }
    if (!kept)
        return;
    cluster->waiting = kept;
    cluster->last = kept_last;
}

struct call *later_cluster_enter(struct later_cluster *cluster, struct later_command *cmd,
                                 double timeout, later_answer_fn *fn, void *arg)
{
    struct call *call = later_command_ready(cmd) ? calloc(1, sizeof *call) : NULL;

    if (!call) {
        later_command_free(cmd);
        return NULL;
    }
    *call = (struct call){ .cluster = cluster,
                           .cmd = *cmd,
                           .slot = later_slot_of_command(cmd),
                           .node = LATER_NO_NODE,
                           .since = later_clock(),
                           .deadline = later_clock() + timeout,
                           .timeout = timeout,
                           .fn = fn,
                           .arg = arg };
    *cmd = (struct later_command){ 0 };
    cluster->base.pending++;
    return call;
}

/* Does an earlier command wait for the same slot? */
static bool is_behind(const struct later_cluster *cluster, const struct call *call)
{
    const struct call *other = cluster->waiting;

    while (other && other->slot != call->slot)
        other = other->next;
    return other != NULL;
}

int later_cluster_pass_or_wait(struct later_cluster *cluster, struct call *call)
{
    enum passed passed =
        cluster->turning || is_behind(cluster, call) ? STAYS : cluster_call_pass(cluster, call);

    if (passed == STAYS)
        later_cluster_append(cluster, call);
    if (passed != FAILED)
        return 0;
    cluster->base.pending--;
    later_command_free(&call->cmd);
    free(call);
    return -1;
}

/* Returns when to look at a waiting command: when its time is over, when it may be tried again, or
 * when its node may. */
static double call_deadline(struct later_cluster *cluster, const struct call *call)
{
    int number = node_for(cluster, call);
    double next = call->deadline;

    if (later_clock() < call->again)
        return fmin(next, call->again);
    if (later_clock() < call->since + LONGEST_PAUSE)
        next = fmin(next, call->since + LONGEST_PAUSE);
    if (number != LATER_NO_NODE && cluster->node[number].conn &&
        later_redis_down(cluster->node[number].conn))
        next = fmin(next, cluster->node[number].retry_at);
    return next;
}

double later_cluster_next_try(struct later_cluster *cluster)
{
    double next = INFINITY;

    for (const struct call *call = cluster->waiting; call; call = call->next)
        next = fmin(next, call_deadline(cluster, call));
    return next;
}
