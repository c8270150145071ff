/*
 * test_nodes.c: the blocking client and the command line on a Redis Cluster of six, while a slot
 * moves, a replica takes over by CLUSTER FAILOVER, scripts are flushed, and a master is killed.
 *
 * A thread pushes, reserves and acks one job after another. What is planned may make it wait, but
 * no call fails and no job is lost or comes twice. Of a kill calls may fail until a replica has
 * taken over: twice the node timeout and 2 s, the best of up to three rounds, since other tests may
 * have the machine. What the replica had before is there in each.
 */
#include "arena.h"
#include "client/call.h"
#include "base/clock.h"
#include "queue/queue.h"
#include "redis/slot.h"
#include "tap.h"
#include "tests/support/cluster.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NODE_TIMEOUT 2.0
#define RECOVERY     (2 * NODE_TIMEOUT + 2)
#define ROUNDS       3
#define KEPT         200
#define QUEUE        "flow"

static struct cluster cluster;

/* What the thread did. */
static atomic_bool stop, rest, resting;
static atomic_uint done;   /* jobs pushed, reserved and acked */
static atomic_uint failed; /* calls */
static atomic_uint wrong;  /* another job came than the one that was pushed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[600]; /* under the lock */
static double gap;           /* the longest job or outage, in seconds */

static void note_error(const struct later_error *err)
{
    atomic_fetch_add(&failed, 1);
    pthread_mutex_lock(&lock);
    snprintf(last_error, sizeof last_error, "%s", err->text);
    pthread_mutex_unlock(&lock);
}

static void note_gap(double seconds)
{
    pthread_mutex_lock(&lock);
    gap = fmax(gap, seconds);
    pthread_mutex_unlock(&lock);
}

static double take_gap(void)
{
    double seconds;

    pthread_mutex_lock(&lock);
    seconds = gap;
    gap = 0;
    pthread_mutex_unlock(&lock);
    return seconds;
}

static bool push(struct later_client *client, const char *queue, const char *id)
{
    struct later_new_job job = { .type = "t", .id = id };
    struct later_error err;

    if (later_push(client, queue, &job, NULL, NULL, &err) == 0)
        return true;
    note_error(&err);
    return false;
}

/* Reserves a job. `id` becomes its id, or "". */
static bool reserve(struct later_client *client, const struct later_keys *keys, char *token,
                    char id[LATER_ID_SIZE])
{
    struct later_command cmd = { 0 };
    struct later_reserved job;
    struct later_reply *reply;
    struct later_error err;

    later_token(token);
    later_queue_reserve(
        &cmd, keys,
        &(struct later_take){
            .token = token, .lease = 60, .limit = 1, .bytes = LATER_RESERVE_BYTES });
    reply = later_call(client, &cmd, 0, false, &err);
    if (!reply) {
        note_error(&err);
        return false;
    }
    id[0] = '\0';
    if (later_queue_reserved_count(reply) > 0) {
        later_queue_reserved(reply, 0, &job);
        snprintf(id, LATER_ID_SIZE, "%s", job.id);
    }
    later_reply_free(reply);
    return true;
}

static bool ack(struct later_client *client, const struct later_keys *keys, const char *token,
                const char *id)
{
    struct later_settlement job = { .token = token, .id = id };
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    size_t cursor = 0;

    later_queue_settle(&cmd, keys, LATER_VERB_ACK, 0, &job, 1);
    reply = later_call(client, &cmd, 0, false, &err);
    if (!reply) {
        note_error(&err);
        return false;
    }
    if (later_queue_lost(reply, 0, &cursor))
        atomic_fetch_add(&wrong, 1);
    later_reply_free(reply);
    return true;
}

/* Takes one job all the way. What a failed call leaves behind is cleared by the next calls, so any
 * job is accepted then. */
static bool one_job(struct later_client *client, const struct later_keys *keys, unsigned number)
{
    char id[24], got[LATER_ID_SIZE], token[LATER_TOKEN_LEN + 1];

    snprintf(id, sizeof id, "job-%u", number);
    if (!push(client, QUEUE, id) || !reserve(client, keys, token, got))
        return false;
    if (atomic_load(&failed) == 0 && strcmp(got, id) != 0) {
        atomic_fetch_add(&wrong, 1);
        return false;
    }
    return !got[0] || ack(client, keys, token, got);
}

static void *flow(void *arg)
{
    struct later_client *client = arg;
    struct later_keys keys;
    double good = later_clock();

    later_keys_init(&keys, "later", QUEUE);
    for (unsigned number = 0; !atomic_load(&stop); number++) {
        if (atomic_load(&rest)) {
            atomic_store(&resting, true);
            usleep(2000);
            good = later_clock();
            continue;
        }
        atomic_store(&resting, false);
        if (one_job(client, &keys, number)) {
            note_gap(later_clock() - good);
            good = later_clock();
            atomic_fetch_add(&done, 1);
        } else {
            usleep(10000);
        }
    }
    return NULL;
}

/* --- */

static int slot_of(const char *queue)
{
    struct later_keys keys;

    later_keys_init(&keys, "later", queue);
    return later_slot_of_key(queue, strlen(queue));
}

static FILE *popen_later(const char *words)
{
    const char *top = getenv("top_builddir");
    char command[PATH_MAX + 400];

    snprintf(command, sizeof command, "%s/cli/later --redis %s %s", top ? top : ".", cluster.url,
             words);
    return popen(command, "r");
}

/* Does the command line succeed, with this output unless that is NULL? */
static bool later(const char *words, const char *output)
{
    FILE *pipe = popen_later(words);
    char line[200] = "";

    if (!pipe)
        return false;
    if (!fgets(line, sizeof line, pipe))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (pclose(pipe) != 0) {
        tap_note("fails: later %s", words);
        return false;
    }
    if (output && strncmp(line, output, strlen(output)) != 0) {
        tap_note("later %s: %s", words, line);
        return false;
    }
    return true;
}

/* Waits until this many more jobs are done. */
static bool flows(unsigned more, double seconds)
{
    unsigned from = atomic_load(&done);
    double until = arena_until(seconds);

    while (atomic_load(&done) < from + more && arena_now() < until)
        usleep(2000);
    return atomic_load(&done) >= from + more;
}

static void planned(const char *what, bool happened)
{
    bool went_on = flows(50, 20);

    tap_ok(happened && went_on && atomic_load(&failed) == 0 && atomic_load(&wrong) == 0,
           "%s: no call fails, no job is lost", what);
    if (atomic_load(&failed) > 0) {
        pthread_mutex_lock(&lock);
        tap_note("%s", last_error);
        pthread_mutex_unlock(&lock);
    }
    tap_note("the longest job took %.3f s; %u done", take_gap(), atomic_load(&done));
}

/* Piece by piece, so that scripts come while some keys are here and some there. *waited gets the
 * exit status of a `later size` meanwhile, which waits for five seconds. */
static bool move(int slot, int to, int *waited)
{
    bool good = cluster_move_begin(&cluster, slot, to);
    FILE *size;

    usleep(300000);
    good = good && later("push t --id elsewhere -q another", NULL) &&
           cluster_move_keys(&cluster, slot, to, 1);
    size = popen_later("size " QUEUE " >&2");
    for (int i = 0; i < 2 && good; i++) {
        usleep(100000);
        good = cluster_move_keys(&cluster, slot, to, 1);
    }
    usleep(100000);
    good = good && cluster_move_keys(&cluster, slot, to, 0) && cluster_move_end(&cluster, slot, to);
    *waited = size ? pclose(size) : -1;
    return good;
}

static void test_move(void)
{
    int slot = slot_of(QUEUE), from = cluster_master(&cluster, slot);
    int to = cluster_master(&cluster, slot < LATER_SLOTS / 2 ? LATER_SLOTS - 1 : 0), waited = -1;

    tap_ok(slot == cluster_slot(&cluster, "later:{" QUEUE "}:ready"),
           "Redis has it in slot %d, too", slot);
    take_gap();
    planned("a slot moves, key by key", move(slot, to, &waited));
    tap_ok(later("push t --id moved -q other", NULL) && later("size other", "other\t1\t") &&
               later("cancel moved -q other", NULL),
           "later push, size, cancel");
    tap_ok(waited == 0, "later size of that queue waited for the move, and had its answer");
    planned("and back at once", cluster_move(&cluster, slot, from));
}

static void test_failover(void)
{
    int slot = slot_of(QUEUE), replica = cluster_replica(&cluster, cluster_master(&cluster, slot));

    planned("CLUSTER FAILOVER", replica >= 0 && cluster_failover(&cluster, replica));
    tap_ok(cluster_master(&cluster, slot) == replica && later("size other", NULL),
           "the replica is master");
}

static void test_flush(void)
{
    bool flushed = true;

    for (int n = 0; n < CLUSTER_NODES; n++)
        flushed = cluster_do(&cluster, n, "SCRIPT FLUSH") && flushed;
    planned("SCRIPT FLUSH everywhere", flushed);
}

/* --- a kill */

/* A name of a queue that this node has. */
static void name_queue(int master, int round, char name[32])
{
    for (int i = 0; i < 1000; i++) {
        snprintf(name, 32, "kept-%d-%d", round, i);
        if (cluster_master(&cluster, slot_of(name)) == master)
            return;
    }
}

/* Has the replica everything that the master has? Ask while nobody writes. */
static bool is_copied(int master)
{
    for (int i = 0; i < 1000; i++) {
        redisReply *reply = cluster_ask(&cluster, master, "INFO replication");
        const char *text = reply && reply->str ? reply->str : "";
        const char *one = strstr(text, ",offset="), *all = strstr(text, "master_repl_offset:");
        bool same = one && all && atoll(one + 8) == atoll(all + 19);

        freeReplyObject(reply);
        if (same)
            return true;
        usleep(10000);
    }
    return false;
}

static bool keep_some(struct later_client *client, const char *queue)
{
    for (int i = 0; i < KEPT; i++) {
        char id[24];

        snprintf(id, sizeof id, "kept-%d", i);
        if (!push(client, queue, id))
            return false;
    }
    return true;
}

/* Returns the seconds until jobs flow again; INFINITY = something else went wrong. */
static double kill_one(struct later_client *client, int round)
{
    int slot = slot_of(QUEUE), old = cluster_master(&cluster, slot);
    char queue[32], words[80], expected[80];
    double start, seconds;
    bool kept;

    name_queue(old, round, queue);
    atomic_store(&rest, true);
    while (!atomic_load(&resting))
        usleep(1000);
    kept = keep_some(client, queue) && is_copied(old);
    tap_ok(kept, "%d jobs are at a master and its replica", KEPT);
    atomic_store(&rest, false);
    if (!kept || !flows(20, 10))
        return INFINITY;
    take_gap();
    start = later_clock();
    cluster_kill(&cluster, old);
    if (!flows(1, 30) || cluster_await_master(&cluster, slot, old, 30) < 0)
        return INFINITY;
    seconds = take_gap();
    tap_note("killed: jobs flow again after %.2f s (seen from here %.2f s)", seconds,
             later_clock() - start);
    snprintf(words, sizeof words, "size %s", queue);
    snprintf(expected, sizeof expected, "%s\t%d\t", queue, KEPT);
    tap_ok(later(words, expected), "all %d are there", KEPT);
    tap_ok(cluster_restart(&cluster, old) && cluster_settled(&cluster, 30), "the old one is back");
    return seconds;
}

static void test_kill(struct later_client *client)
{
    double best = INFINITY;

    for (int round = 0; round < ROUNDS && best > RECOVERY; round++)
        best = fmin(best, kill_one(client, round));
    tap_ok(best <= RECOVERY, "after kill -9 jobs flow again within %.0f s: %.2f s", RECOVERY, best);
    tap_note("calls that failed meanwhile: %u; the last: %s", atomic_load(&failed), last_error);
    tap_ok(flows(100, 20), "and go on");
}

int main(void)
{
    struct later_client *clients[2];
    struct later_error err;
    pthread_t thread;

    if (!tap_ok(cluster_start(&cluster, (unsigned)(NODE_TIMEOUT * 1000), NULL) == 0 &&
                    cluster_set_node_timeout(&cluster, CLUSTER_QUIET),
                "a Cluster"))
        return tap_end();
    for (int i = 0; i < 2; i++)
        clients[i] = later_client_open_with(
            &(struct later_client_options){ .url = cluster.url, .timeout = 30 }, &err);
    if (clients[0] && clients[1] && pthread_create(&thread, NULL, flow, clients[0]) == 0) {
        tap_ok(flows(100, 20), "jobs flow");
        test_move();
        test_failover();
        test_flush();
        tap_ok(cluster_set_node_timeout(&cluster, NODE_TIMEOUT),
               "from now on a replica takes over soon");
        test_kill(clients[1]);
        atomic_store(&stop, true);
        pthread_join(thread, NULL);
        tap_ok(later("check", NULL), "later check finds nothing");
    }
    for (int i = 0; i < 2; i++)
        later_client_close(clients[i]);
    cluster_stop(&cluster);
    return tap_end();
}
