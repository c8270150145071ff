/* test_cluster.c: tests the Cluster that other tests use: who is who, after each thing that may
 * happen to a node. */
#include "cluster.h"
#include "base/clock.h"
#include "tests/faults/tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define KEY     "later:{default}:ready"
#define SECONDS 20.0

/* Does this node answer a command with exactly this text, which may be an error's? */
static bool says(const struct cluster *cluster, int n, const char *command, const char *text)
{
    redisReply *reply = cluster_ask(cluster, n, command);
    bool same = reply && reply->str && strncmp(reply->str, text, strlen(text)) == 0;

    if (!same)
        tap_note("node %d, %s: %s", n, command, reply && reply->str ? reply->str : "no text");
    freeReplyObject(reply);
    return same;
}

static void test_roles(struct cluster *cluster)
{
    int slot = cluster_slot(cluster, KEY);
    char moved[64];

    tap_ok(slot >= 0 && slot < CLUSTER_SLOTS, "slot %d", slot);
    tap_ok(cluster_master(cluster, 0) == 0 && cluster_master(cluster, 5461) == 1 &&
               cluster_master(cluster, 16383) == 2,
           "a third of the slots each");
    for (int n = 0; n < CLUSTER_MASTERS; n++)
        tap_ok(cluster_replica(cluster, n) == n + CLUSTER_MASTERS, "the replica of %d", n);
    for (int n = 0; n < CLUSTER_MASTERS; n++) {
        int master = cluster_master_of_key(cluster, KEY);

        snprintf(moved, sizeof moved, "MOVED %d 127.0.0.1:%u", slot, cluster_port(cluster, master));
        tap_ok(says(cluster, n, "SET " KEY " 1", n == master ? "OK" : moved), "node %d: %s", n,
               n == master ? "OK" : moved);
    }
}

/* WAIT only covers what the same connection wrote. */
static bool set_at_two(struct cluster *cluster, int n)
{
    redisContext *redis = cluster_connect(cluster, n);
    redisReply *set = redis ? redisCommand(redis, "SET " KEY " kept") : NULL;
    redisReply *wait = redis ? redisCommand(redis, "WAIT 1 5000") : NULL;
    bool good = set && wait && wait->integer == 1;

    freeReplyObject(set);
    freeReplyObject(wait);
    if (redis)
        redisFree(redis);
    return good;
}

static void test_kill(struct cluster *cluster)
{
    int slot = cluster_slot(cluster, KEY), old = cluster_master(cluster, slot);
    int heir = cluster_replica(cluster, old);
    double start;

    tap_ok(set_at_two(cluster, old), "a key at its master and its replica");
    start = later_clock();
    cluster_kill(cluster, old);
    tap_ok(cluster_await_master(cluster, slot, old, SECONDS) == heir,
           "the replica takes the place of a killed master");
    tap_note("after %.2f s", later_clock() - start);
    tap_ok(says(cluster, heir, "GET " KEY, "kept"), "it has the key");
    tap_ok(cluster_restart(cluster, old) && cluster_settled(cluster, SECONDS),
           "the old one is there again");
    tap_ok(cluster_replica(cluster, heir) == old, "as a replica");
}

static void test_pause(struct cluster *cluster)
{
    int slot = cluster_slot(cluster, KEY), old = cluster_master(cluster, slot);
    int heir = cluster_replica(cluster, old);
    double start = later_clock();

    cluster_pause(cluster, old);
    tap_ok(cluster_await_master(cluster, slot, old, SECONDS) == heir,
           "the replica takes the place of a stopped master");
    tap_note("after %.2f s", later_clock() - start);
    cluster_resume(cluster, old);
    tap_ok(cluster_settled(cluster, SECONDS) && cluster_master(cluster, slot) == heir &&
               cluster_replica(cluster, heir) == old,
           "the old one gives way");
}

static void test_failover(struct cluster *cluster)
{
    int slot = cluster_slot(cluster, KEY), old = cluster_master(cluster, slot);
    int heir = cluster_replica(cluster, old);

    tap_ok(cluster_failover(cluster, heir) && cluster_master(cluster, slot) == heir,
           "a planned failover");
    tap_ok(says(cluster, heir, "GET " KEY, "kept"), "nothing is lost");
}

static void test_move(struct cluster *cluster)
{
    int slot = cluster_slot(cluster, KEY), from = cluster_master(cluster, slot);
    int to = cluster_master(cluster, slot < CLUSTER_SLOTS / 2 ? CLUSTER_SLOTS - 1 : 0);
    char ask[64];

    for (int i = 0; i < 250; i++)
        cluster_do(cluster, from, "SET {default}%d x", i);
    tap_ok(cluster_move_begin(cluster, slot, to), "slot %d begins to move from %d to %d", slot,
           from, to);
    snprintf(ask, sizeof ask, "ASK %d 127.0.0.1:%u", slot, cluster_port(cluster, to));
    tap_ok(says(cluster, from, "GET {default}none", ask), "what is not there is asked for: %s",
           ask);
    tap_ok(cluster_move_keys(cluster, slot, to, 10), "ten keys move");
    tap_ok(cluster_move_keys(cluster, slot, to, 0) && cluster_move_end(cluster, slot, to),
           "the others do");
    tap_ok(cluster_master(cluster, slot) == to && says(cluster, to, "GET " KEY, "kept") &&
               says(cluster, to, "GET {default}249", "x"),
           "the slot is there with its keys");
    tap_ok(cluster_move(cluster, slot, from) && says(cluster, from, "GET " KEY, "kept"),
           "and back at once");
}

static void test_two(struct cluster *cluster)
{
    struct cluster second;
    struct stat status;
    char folder[NODE_FOLDER];
    double start = later_clock();
    bool other = true;

    if (!tap_ok(cluster_start(&second, 2000, "appendonly yes\n") == 0, "a second Cluster"))
        return;
    tap_note("after %.2f s", later_clock() - start);
    for (int n = 0; n < CLUSTER_NODES; n++)
        other = other && cluster_port(cluster, n) != cluster_port(&second, n);
    tap_ok(other && strcmp(cluster->url, second.url) != 0, "on ports of its own");
    tap_ok(node_says(cluster_port(&second, 0), "CONFIG GET appendonly", "appendonly", "yes"),
           "with options of its own");
    tap_ok(node_says(cluster_port(&second, 5), "CONFIG GET cluster-node-timeout",
                     "cluster-node-timeout", "2000"),
           "and a time of its own");
    strcpy(folder, second.folder);
    cluster_stop(&second);
    tap_ok(stat(folder, &status) < 0, "nothing is left of it");
}

int main(void)
{
    struct cluster cluster;
    double start = later_clock();

    if (tap_ok(cluster_start(&cluster, 0, NULL) == 0, "a Cluster")) {
        tap_note("after %.2f s: %s", later_clock() - start, cluster.url);
        test_roles(&cluster);
        test_kill(&cluster);
        test_pause(&cluster);
        test_failover(&cluster);
        test_move(&cluster);
        test_two(&cluster);
        cluster_stop(&cluster);
    }
    return tap_end();
}
