/* cluster_view.c: who is who in a test's Cluster, as its nodes say in CLUSTER NODES. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of CLUSTER NODES. */
struct line {
    bool known; /* it is there, and its handshake is over */
    bool self, master, failing, connected;
    unsigned long long epoch;
    char of[41];       /* of a replica: its master's id */
    const char *slots; /* points into the text: "0-5460 7000 [93->-id]" and LF */
};

/* What one node says about all. */
struct view {
    redisReply *reply; /* NULL = the node does not run or does not answer */
    struct line lines[CLUSTER_NODES];
};

static void parse_line(struct line *line, const char *text)
{
    char flags[64], link[16];
    int end = 0;

    if (sscanf(text, "%*s %*s %63s %40s %*s %*s %llu %15s%n", flags, line->of, &line->epoch, link,
               &end) != 4)
        return;
    line->known = !strstr(flags, "handshake");
    line->self = strstr(flags, "myself") != NULL;
    line->master = strstr(flags, "master") != NULL;
    line->failing = strstr(flags, "fail") != NULL;
    line->connected = line->self || strcmp(link, "connected") == 0;
    line->slots = text + end;
}

static bool runs(const struct cluster *cluster, int n)
{
    return cluster->pid[n] > 0 && !cluster->stopped[n];
}

static void look(const struct cluster *cluster, int n, struct view *view)
{
    memset(view, 0, sizeof *view);
    if (!runs(cluster, n))
        return;
    view->reply = cluster_ask(cluster, n, "CLUSTER NODES");
    if (!view->reply || view->reply->type != REDIS_REPLY_STRING)
        return;
    for (int m = 0; m < CLUSTER_NODES; m++) {
        const char *at = *cluster->id[m] ? strstr(view->reply->str, cluster->id[m]) : NULL;

        /* A replica's line has its master's id too, but not at its beginning. */
        while (at && at != view->reply->str && at[-1] != '\n')
            at = strstr(at + 1, cluster->id[m]);
        if (at)
            parse_line(&view->lines[m], at);
    }
}

static void look_at_all(const struct cluster *cluster, struct view *views)
{
    for (int n = 0; n < CLUSTER_NODES; n++)
        look(cluster, n, &views[n]);
}

static void forget(struct view *views, int count)
{
    for (int n = 0; n < count; n++)
        freeReplyObject(views[n].reply);
}

/* In "0-5460 7000 [93->-id]" the slot in brackets is only being moved. */
static bool has_slot(const char *slots, int slot)
{
    char *end;

    while (*slots == ' ') {
        long first = strtol(slots + 1, &end, 10), last = first;

        if (end == slots + 1)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (slot >= first && slot <= last)
            return true;
        slots = end;
    }
    return false;
}

/* --- waiting */

struct wait {
    const struct cluster *cluster;
    int n, slot, old;
};

static bool knows_all(void *what)
{
    const struct wait *wait = what;
    struct view view;
    bool all = true;

    look(wait->cluster, wait->n, &view);
    for (int m = 0; m < CLUSTER_NODES; m++)
        all = all && view.lines[m].known && view.lines[m].connected;
    forget(&view, 1);
    return all;
}

bool cluster_acquainted(const struct cluster *cluster, int n, double seconds)
{
    struct wait wait = { .cluster = cluster, .n = n };

    return node_await(knows_all, &wait, seconds);
}

/* Does this node's view of each running node match what that node says of itself? */
static bool agrees(const struct cluster *cluster, const struct view *view, const struct view *views)
{
    for (int m = 0; m < CLUSTER_NODES; m++) {
        const struct line *line = &view->lines[m], *own = &views[m].lines[m];

        if (runs(cluster, m) && (!own->self || !line->known || !line->connected || line->failing ||
                                 line->master != own->master || strcmp(line->of, own->of) != 0 ||
                                 line->epoch != own->epoch))
            return false;
    }
    return true;
}

static bool is_settled(void *what)
{
    const struct wait *wait = what;
    const struct cluster *cluster = wait->cluster;
    struct view views[CLUSTER_NODES];
    bool good = true;

    look_at_all(cluster, views);
    for (int n = 0; n < CLUSTER_NODES && good; n++) {
        unsigned port = cluster_port(cluster, n);

        good = !runs(cluster, n) ||
               (agrees(cluster, &views[n], views) &&
                node_says(port, "CLUSTER INFO", "cluster_state:ok", NULL) &&
                (views[n].lines[n].master ||
                 node_says(port, "INFO replication", "master_link_status:up", NULL)));
    }
    forget(views, CLUSTER_NODES);
    return good;
}

bool cluster_settled(const struct cluster *cluster, double seconds)
{
    struct wait wait = { .cluster = cluster };

    if (node_await(is_settled, &wait, seconds))
        return true;
    printf("# the Cluster has not settled after %.0f s\n", seconds);
    return false;
}

static bool is_moved(void *what)
{
    struct wait *wait = what;
    int n = cluster_master(wait->cluster, wait->slot);

    wait->n = n;
    return n >= 0 && n != wait->old && is_settled(wait);
}

int cluster_await_master(const struct cluster *cluster, int slot, int old, double seconds)
{
    struct wait wait = { .cluster = cluster, .slot = slot, .old = old };

    return node_await(is_moved, &wait, seconds) ? wait.n : -1;
}

/* --- who is who */

int cluster_slot(const struct cluster *cluster, const char *key)
{
    int slot = -1;

    for (int n = 0; n < CLUSTER_NODES && slot < 0; n++) {
        redisReply *reply =
            runs(cluster, n) ? cluster_ask(cluster, n, "CLUSTER KEYSLOT %s", key) : NULL;

        if (reply && reply->type == REDIS_REPLY_INTEGER)
            slot = (int)reply->integer;
        freeReplyObject(reply);
    }
    return slot;
}

int cluster_master(const struct cluster *cluster, int slot)
{
    struct view views[CLUSTER_NODES];
    unsigned long long highest = 0;
    int which = -1;

    look_at_all(cluster, views);
    for (int n = 0; n < CLUSTER_NODES; n++) {
        const struct line *own = &views[n].lines[n];

        if (own->self && own->master && has_slot(own->slots, slot) && own->epoch >= highest) {
            highest = own->epoch;
            which = n;
        }
    }
    forget(views, CLUSTER_NODES);
    return which;
}

int cluster_master_of_key(const struct cluster *cluster, const char *key)
{
    int slot = cluster_slot(cluster, key);

    return slot < 0 ? -1 : cluster_master(cluster, slot);
}

int cluster_replica(const struct cluster *cluster, int master)
{
    struct view views[CLUSTER_NODES];
    int which = -1;

    look_at_all(cluster, views);
    for (int n = 0; n < CLUSTER_NODES; n++) {
        const struct line *own = &views[n].lines[n];

        if (own->self && !own->master && strcmp(own->of, cluster->id[master]) == 0)
            which = n;
    }
    forget(views, CLUSTER_NODES);
    return which;
}
