/* cluster.c: makes six Redis servers a Cluster, and does things to them. */
#include "cluster.h"

#include "folder.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define START_SECONDS 60.0 /* enough for a loaded machine */
#define NODE_TIMEOUT  1000

/* Only the test may rearrange the Cluster. So no replica moves to another master, and no master
 * becomes a replica when its last slot is gone. */
static int write_config(const struct cluster *cluster, int n, const char *options)
{
    char name[16];
    FILE *file;

    snprintf(name, sizeof name, "redis%d", n);
    file = node_config(cluster->folder, name, cluster_port(cluster, n));
    if (!file)
        return -1;
    fprintf(file,
            "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout %u\n"
            "cluster-allow-replica-migration no\nsave \"\"\nappendonly no\n"
            "repl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n"
            "maxmemory-policy noeviction\n%s",
            cluster->node_timeout, options ? options : "");
    return fclose(file);
}

static bool answers(void *what)
{
    unsigned *port = what;
    redisReply *reply = node_ask(*port, "PING");
    bool pong = reply && reply->type == REDIS_REPLY_STATUS;

    freeReplyObject(reply);
    return pong;
}

static int start(struct cluster *cluster, int n)
{
    char name[16];

    snprintf(name, sizeof name, "redis%d", n);
    cluster->pid[n] = node_start(cluster->folder, name, NULL);
    cluster->stopped[n] = false;
    return cluster->pid[n] > 0 ? 0 : -1;
}

static int learn_id(struct cluster *cluster, int n)
{
    redisReply *reply = cluster_ask(cluster, n, "CLUSTER MYID");
    bool good = node_good(cluster_port(cluster, n), "CLUSTER MYID", reply);

    if (good)
        snprintf(cluster->id[n], sizeof cluster->id[n], "%s", reply->str);
    freeReplyObject(reply);
    return good ? 0 : -1;
}

/* Each node meets all before it. That is faster than gossip. */
static int introduce(struct cluster *cluster, int n)
{
    if (learn_id(cluster, n) < 0 || !cluster_do(cluster, n, "CLUSTER SET-CONFIG-EPOCH %d", n + 1))
        return -1;
    if (n < CLUSTER_MASTERS &&
        !cluster_do(cluster, n, "CLUSTER ADDSLOTSRANGE %d %d", n * CLUSTER_SLOTS / CLUSTER_MASTERS,
                    (n + 1) * CLUSTER_SLOTS / CLUSTER_MASTERS - 1))
        return -1;
    for (int other = 0; other < n; other++) {
        if (!cluster_do(cluster, n, "CLUSTER MEET 127.0.0.1 %u", cluster_port(cluster, other)))
            return -1;
    }
    return 0;
}

static int start_servers(struct cluster *cluster, const char *options)
{
    for (int n = 0; n < CLUSTER_NODES; n++) {
        if (write_config(cluster, n, options) < 0 || start(cluster, n) < 0)
            return -1;
    }
    return 0;
}

static int start_all(struct cluster *cluster, const char *options)
{
    if (start_servers(cluster, options) < 0)
        return -1;
    for (int n = 0; n < CLUSTER_NODES; n++) {
        if (!node_await(answers, &cluster->ports.port[n], START_SECONDS) ||
            introduce(cluster, n) < 0)
            return -1;
    }
    for (int n = CLUSTER_MASTERS; n < CLUSTER_NODES; n++) {
        const char *master = cluster->id[n - CLUSTER_MASTERS];

        if (!cluster_acquainted(cluster, n, START_SECONDS) ||
            !cluster_do(cluster, n, "CLUSTER REPLICATE %s", master))
            return -1;
    }
    return cluster_settled(cluster, START_SECONDS) ? 0 : -1;
}

static void write_url(struct cluster *cluster)
{
    char *at = cluster->url, *end = cluster->url + sizeof cluster->url;

    for (int n = 0; n < CLUSTER_NODES; n++)
        at += snprintf(at, (size_t)(end - at), "%s127.0.0.1:%u", n ? "," : "cluster://",
                       cluster_port(cluster, n));
}

int cluster_start(struct cluster *cluster, unsigned node_timeout, const char *options)
{
    memset(cluster, 0, sizeof *cluster);
    cluster->node_timeout = node_timeout ? node_timeout : NODE_TIMEOUT;
    if (node_folder(cluster->folder, "later-cluster") < 0)
        return -1;
    if (ports_take(&cluster->ports, CLUSTER_NODES) == 0 && start_all(cluster, options) == 0) {
        write_url(cluster);
        return 0;
    }
    printf("# a Redis Cluster does not start\n");
    cluster_stop(cluster);
    return -1;
}

int cluster_again(struct cluster *cluster, const char *options)
{
    for (int n = 0; n < CLUSTER_NODES; n++)
        node_end(&cluster->pid[n]);
    return start_servers(cluster, options) == 0 && cluster_settled(cluster, START_SECONDS) ? 0 : -1;
}

void cluster_stop(struct cluster *cluster)
{
    for (int n = 0; n < CLUSTER_NODES; n++)
        node_end(&cluster->pid[n]);
    ports_leave(&cluster->ports);
    folder_remove(cluster->folder);
}

unsigned cluster_port(const struct cluster *cluster, int n)
{
    return cluster->ports.port[n];
}

/* --- what may happen to a node */

void cluster_kill(struct cluster *cluster, int n)
{
    node_end(&cluster->pid[n]);
    cluster->stopped[n] = false;
}

bool cluster_restart(struct cluster *cluster, int n)
{
    if (start(cluster, n) == 0 && node_await(answers, &cluster->ports.port[n], START_SECONDS))
        return true;
    printf("# node %d does not start again\n", n);
    return false;
}

/* When this returns, the node has stopped. */
void cluster_pause(struct cluster *cluster, int n)
{
    kill(cluster->pid[n], SIGSTOP);
    waitpid(cluster->pid[n], NULL, WUNTRACED);
    cluster->stopped[n] = true;
}

void cluster_resume(struct cluster *cluster, int n)
{
    kill(cluster->pid[n], SIGCONT);
    cluster->stopped[n] = false;
}

/* --- a command to a node */

redisReply *cluster_ask(const struct cluster *cluster, int n, const char *format, ...)
{
    va_list args;
    redisReply *reply;

    va_start(args, format);
    reply = node_ask_list(cluster_port(cluster, n), format, args);
    va_end(args);
    return reply;
}

bool cluster_do(const struct cluster *cluster, int n, const char *format, ...)
{
    va_list args;
    redisReply *reply;
    bool good;

    va_start(args, format);
    reply = node_ask_list(cluster_port(cluster, n), format, args);
    va_end(args);
    good = node_good(cluster_port(cluster, n), format, reply);
    freeReplyObject(reply);
    return good;
}

bool cluster_set_node_timeout(const struct cluster *cluster, double seconds)
{
    int ms = (int)(seconds * 1000);
    bool good = true;

    for (int n = 0; n < CLUSTER_NODES; n++)
        good = cluster_do(cluster, n, "CONFIG SET cluster-node-timeout %d", ms) && good;
    return good;
}

redisContext *cluster_connect(const struct cluster *cluster, int n)
{
    return node_connect(cluster_port(cluster, n));
}
