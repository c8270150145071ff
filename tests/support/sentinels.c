/* sentinels.c: runs three Redis servers and three Sentinels. */
#include "sentinels.h"

#include "folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_SECONDS 30.0

static int find_ports(struct sentinels *set)
{
    if (ports_take(&set->ports, 2 * SENTINELS_EACH) < 0)
        return -1;
    for (int i = 0; i < SENTINELS_EACH; i++) {
        set->redis_port[i] = set->ports.port[i];
        set->sentinel_port[i] = set->ports.port[SENTINELS_EACH + i];
    }
    return 0;
}

static FILE *config_of(const struct sentinels *set, const char *kind, int n, unsigned port)
{
    char name[16];

    snprintf(name, sizeof name, "%s%d", kind, n);
    return node_config(set->folder, name, port);
}

/* The replicas have a user of their own, so that a test can cut off only them. */
static int write_redis(const struct sentinels *set, int n, const char *options)
{
    FILE *file = config_of(set, "redis", n, set->redis_port[n]);

    if (!file)
        return -1;
    fprintf(file,
            "save \"\"\nappendonly no\nrepl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n"
            "user copier on >copy ~* &* +psync +replconf +ping\nmasteruser copier\n"
            "masterauth copy\n%s",
            options ? options : "");
    if (n > 0)
        fprintf(file, "replicaof 127.0.0.1 %u\n", set->redis_port[0]);
    return fclose(file);
}

static int write_sentinel(const struct sentinels *set, int n)
{
    FILE *file = config_of(set, "sentinel", n, set->sentinel_port[n]);

    if (!file)
        return -1;
    fprintf(file,
            "sentinel monitor " SENTINELS_MASTER " 127.0.0.1 %u 2\n"
            "sentinel down-after-milliseconds " SENTINELS_MASTER " %.0f\n"
            "sentinel failover-timeout " SENTINELS_MASTER " 10000\n",
            set->redis_port[0], SENTINELS_DOWN * 1000);
    return fclose(file);
}

static pid_t start(const struct sentinels *set, const char *kind, int n, const char *option)
{
    char name[16];

    snprintf(name, sizeof name, "%s%d", kind, n);
    return node_start(set->folder, name, option);
}

static bool copied(void *what)
{
    const struct sentinels *set = what;

    return node_says(set->redis_port[0], "INFO replication", "connected_slaves:2", NULL) &&
           node_says(set->redis_port[0], "INFO replication", "slave0:ip=127.0.0.1", NULL) &&
           node_says(set->redis_port[1], "INFO replication", "master_link_status:up", NULL) &&
           node_says(set->redis_port[2], "INFO replication", "master_link_status:up", NULL);
}

static bool acquainted(void *what)
{
    const struct sentinels *set = what;
    const char *const command = "SENTINEL MASTER " SENTINELS_MASTER;

    for (int i = 0; i < SENTINELS_EACH; i++) {
        if (!node_says(set->sentinel_port[i], command, "num-slaves", "2") ||
            !node_says(set->sentinel_port[i], command, "num-other-sentinels", "2"))
            return false;
    }
    return true;
}

static int start_redis(struct sentinels *set, const char *options)
{
    for (int i = 0; i < SENTINELS_EACH; i++) {
        if (write_redis(set, i, options) < 0)
            return -1;
        set->redis[i] = start(set, "redis", i, NULL);
    }
    return node_await(copied, set, START_SECONDS) ? 0 : -1;
}

static int start_sentinels(struct sentinels *set)
{
    for (int i = 0; i < SENTINELS_EACH; i++)
        set->sentinel[i] = start(set, "sentinel", i, "--sentinel");
    return node_await(acquainted, set, START_SECONDS) ? 0 : -1;
}

static int start_all(struct sentinels *set, const char *options)
{
    for (int i = 0; i < SENTINELS_EACH; i++) {
        if (write_sentinel(set, i) < 0)
            return -1;
    }
    return start_redis(set, options) < 0 ? -1 : start_sentinels(set);
}

static void end_all(struct sentinels *set)
{
    for (int i = 0; i < SENTINELS_EACH; i++) {
        node_end(&set->sentinel[i]);
        node_end(&set->redis[i]);
    }
}

int sentinels_again(struct sentinels *set, const char *options)
{
    end_all(set);
    return start_redis(set, options) < 0 ? -1 : start_sentinels(set);
}

int sentinels_open(struct sentinels *set, const char *options)
{
    memset(set, 0, sizeof *set);
    if (node_folder(set->folder, "later-sentinels") < 0)
        return -1;
    if (find_ports(set) == 0 && start_all(set, options) == 0) {
        snprintf(set->url, sizeof set->url,
                 "sentinel://127.0.0.1:%u,127.0.0.1:%u,127.0.0.1:%u/" SENTINELS_MASTER,
                 set->sentinel_port[0], set->sentinel_port[1], set->sentinel_port[2]);
        return 0;
    }
    printf("# Redis servers and Sentinels do not start\n");
    sentinels_close(set);
    return -1;
}

void sentinels_close(struct sentinels *set)
{
    end_all(set);
    ports_leave(&set->ports);
    folder_remove(set->folder);
}

int sentinels_master(struct sentinels *set)
{
    redisReply *reply =
        node_ask(set->sentinel_port[0], "SENTINEL get-master-addr-by-name " SENTINELS_MASTER);
    int which = -1;

    for (int i = 0; reply && reply->type == REDIS_REPLY_ARRAY && i < SENTINELS_EACH; i++) {
        if (atoi(reply->element[1]->str) == (int)set->redis_port[i])
            which = i;
    }
    freeReplyObject(reply);
    return which;
}

struct wait {
    struct sentinels *set;
    int old, now;
};

static bool is_another(void *what)
{
    struct wait *wait = what;

    wait->now = sentinels_master(wait->set);
    return wait->now >= 0 && wait->now != wait->old &&
           node_says(wait->set->redis_port[wait->now], "INFO replication", "role:master", NULL);
}

int sentinels_await(struct sentinels *set, int old, double seconds)
{
    struct wait wait = { .set = set, .old = old };

    return node_await(is_another, &wait, seconds) ? wait.now : -1;
}

static bool is_alone(void *what)
{
    const struct sentinels *set = what;

    return node_says(set->redis_port[0], "INFO replication", "connected_slaves:0", NULL);
}

bool sentinels_cut(struct sentinels *set)
{
    unsigned port = set->redis_port[0];

    return node_do(port, "ACL SETUSER copier off") && node_do(port, "CLIENT KILL TYPE replica") &&
           node_await(is_alone, set, 5);
}
