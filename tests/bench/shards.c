/* shards.c: compares a queue of eight shards with a plain one, on a Cluster of three masters. */
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "later/client.h"
#include "queue/shards.h"
#include "tests/support/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 5
#define MANY     10000
#define PAYLOAD  "{\"to\":\"a@b.c\",\"n\":12345}"
/* Its eight shards have slots at the three masters by 3, 3, 2; of most names it is 4, 2, 2. */
#define SHARDED  "metrics"
#define PATIENCE 120.0

static struct cluster cluster;

/* The places of one queue, with a connection to the master of each. */
struct places {
    size_t count;
    later_queue_name name[LATER_WHOLE_MAX];
    redisContext *redis[LATER_WHOLE_MAX];
};

static void open_places(struct places *places, const char *queue, unsigned shards)
{
    places->count = later_shards_all(queue, shards, places->name);
    for (size_t i = 0; i < places->count; i++) {
        char key[128];
        int node;

        snprintf(key, sizeof key, "later:{%s}:ready", places->name[i]);
        node = cluster_master_of_key(&cluster, key);
        places->redis[i] = node < 0 ? NULL : cluster_connect(&cluster, node);
        if (!places->redis[i])
            fatal("no master of %s", key);
    }
}

static void close_places(struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        redisFree(places->redis[i]);
}

/* The sum of what a command answers at each. */
static double each(const struct places *places, const char *command)
{
    double sum = 0;

    for (size_t i = 0; i < places->count; i++) {
        redisReply *reply = redisCommand(places->redis[i], command, places->name[i]);

        if (!reply || reply->type == REDIS_REPLY_ERROR)
            fatal("%s: %s", command, reply ? reply->str : places->redis[i]->errstr);
        sum += reply->type == REDIS_REPLY_INTEGER ? (double)reply->integer
               : reply->str                       ? strtod(reply->str, NULL)
                                                  : 0;
        freeReplyObject(reply);
    }
    return sum;
}

static void wait_for(const struct places *places, const char *command, double least)
{
    double until = now_monotonic() + PATIENCE;

    while (each(places, command) < least) {
        if (now_monotonic() > until)
            fatal("%s: less than %.0f after %.0f s", command, least, PATIENCE);
        sleep_seconds(0.005);
    }
}

static void push(const char *queue, size_t count)
{
    static struct later_new_job jobs[MANY];
    struct later_error err;
    struct later_client *client = later_client_open(cluster.url, &err);

    for (size_t i = 0; i < MANY; i++)
        jobs[i] = (struct later_new_job){ .type = "null", .payload = PAYLOAD };
    for (size_t done = 0; client && done < count; done += MANY) {
        if (later_push_many(client, queue, jobs, MANY, NULL, &err) < 0)
            fatal("%s", err.text);
    }
    if (!client)
        fatal("%s", err.text);
    later_client_close(client);
}

struct cost {
    double seconds, laterd, redis[CLUSTER_MASTERS];
};

static void add_cpu(struct cost *cost, const struct stage *stage, double sign)
{
    cost->laterd += sign * cpu_of_tree(stage->laterd);
    for (int i = 0; i < CLUSTER_MASTERS; i++)
        cost->redis[i] += sign * cpu_of(cluster.pid[i]);
}

/* Pushed while it is paused, then drained. */
static struct cost run_one(struct stage *stage, const char *queue, unsigned shards, size_t count)
{
    struct cost cost = { 0 };
    struct places places;
    char list[128];
    double start;

    snprintf(list, sizeof list, "( { name = \"%s\"; shards = %u; } )", queue, shards);
    open_places(&places, queue, shards);
    stage_start_only(stage, 2, list);
    if (shards > 1) { /* the plan is there, then */
        struct places plain = { .count = 1, .redis = { places.redis[0] } };

        strcpy(plain.name[0], queue);
        wait_for(&plain, "EXISTS later:{%s}:shards", 1);
    }
    each(&places, "SET later:{%s}:paused 1");
    each(&places, "DEL later:{%s}:stats");
    add_cpu(&cost, stage, -1);
    push(queue, count);
    start = now_monotonic();
    each(&places, "DEL later:{%s}:paused");
    wait_for(&places, "HGET later:{%s}:stats done", (double)count);
    cost.seconds = now_monotonic() - start;
    add_cpu(&cost, stage, 1);
    stage_stop(stage);
    close_places(&places);
    return cost;
}

struct costs {
    double rate[RUNS_MAX], redis[RUNS_MAX], laterd[RUNS_MAX], share[RUNS_MAX];
};

static void note(struct costs *costs, size_t run, const struct cost *cost, size_t count)
{
    double sum = 0, most = 0;

    for (int i = 0; i < CLUSTER_MASTERS; i++) {
        sum += cost->redis[i];
        most = cost->redis[i] > most ? cost->redis[i] : most;
    }
    costs->rate[run] = (double)count / cost->seconds;
    costs->redis[run] = sum / (double)count * 1e6;
    costs->laterd[run] = cost->laterd / (double)count * 1e6;
    costs->share[run] = most / sum;
}

/* What a job costs in all, Redis and laterd, against a job of the plain queue. */
static double ratio_of(const struct costs *costs, const struct costs *plain, size_t runs)
{
    double ratios[RUNS_MAX];

    for (size_t i = 0; i < runs; i++)
        ratios[i] = (costs->redis[i] + costs->laterd[i]) / (plain->redis[i] + plain->laterd[i]);
    return median(ratios, runs);
}

static void tell(unsigned shards, struct costs *costs, size_t runs, double ratio)
{
    row_begin("shards");
    row_number("shards", shards);
    row_number("masters", CLUSTER_MASTERS);
    row_number("runs", (double)runs);
    row_number("rate", median(costs->rate, runs));
    row_number("redis_us", median(costs->redis, runs));
    row_number("laterd_us", median(costs->laterd, runs));
    row_number("busiest_share", median(costs->share, runs));
    row_number("ratio", ratio);
    row_end();
}

void bench_shards(void)
{
    size_t runs = quick ? 1 : 5, count = quick ? 20000 : 200000;
    struct costs plain, sharded;
    struct stage stage;
    double ratio;

    stage_open(&stage, NULL);
    if (cluster_start(&cluster, 5000, NULL) < 0)
        fatal("no Cluster");
    for (int i = CLUSTER_MASTERS; i < CLUSTER_NODES; i++)
        cluster_kill(&cluster, i); /* the replicas, whose copying is not part of the question */
    if (strlen(cluster.url) >= sizeof stage.url)
        fatal("%s is too long", cluster.url);
    strcpy(stage.url, cluster.url);
    for (size_t i = 0; i < runs; i++) {
        struct cost cost = run_one(&stage, STAGE_QUEUE, 1, count);

        note(&plain, i, &cost, count);
        cost = run_one(&stage, SHARDED, 8, count);
        note(&sharded, i, &cost, count);
    }
    stage_close(&stage);
    cluster_stop(&cluster);
    ratio = ratio_of(&sharded, &plain, runs);
    tell(1, &plain, runs, 1);
    tell(8, &sharded, runs, ratio);
}
