/* idle.c: many event jobs; a slow job before fast ones; an idle laterd. */
#include "ceiling.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "later/client.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 5

static void push_same(struct stage *stage, const char *type, const char *payload, size_t count)
{
    struct later_new_job *jobs = calloc(count, sizeof *jobs);
    struct later_error err;
    struct later_client *client = later_client_open(stage->url, &err);

    if (!jobs || !client)
        fatal("no memory");
    for (size_t i = 0; i < count; i++)
        jobs[i] = (struct later_new_job){ .type = type, .payload = payload };
    if (later_push_many(client, STAGE_QUEUE, jobs, count, NULL, &err) < 0)
        fatal("%s", err.text);
    later_client_close(client);
    free(jobs);
}

/* How long the jobs that `push` puts there take, 1,000 and perhaps one more that lasts longer. */
static void bench_held(const char *name, int workers, void (*push)(struct stage *stage))
{
    size_t runs = quick ? 1 : 5;
    double seconds[RUNS_MAX];

    for (size_t i = 0; i < runs; i++) {
        struct stage stage;
        double start;

        stage_open(&stage, NULL);
        stage_start(&stage, workers, NULL);
        stage_pause(&stage, NULL);
        push(&stage);
        start = now_monotonic();
        stage_resume(&stage, NULL);
        seconds[i] = stage_wait_done(&stage, 1000) - start;
        stage_close(&stage);
    }
    row_begin(name);
    row_number("jobs", 1000);
    row_number("runs", (double)runs);
    row_number("seconds", median(seconds, runs));
    row_end();
}

static void push_events(struct stage *stage)
{
    push_same(stage, "sleep", "{\"seconds\":1}", 1000);
}

void bench_events(void)
{
    bench_held("events", 1, push_events);
}

static void push_slow(struct stage *stage)
{
    push_same(stage, "probe.block", "{\"seconds\":2}", 1);
    push_same(stage, "null", "{}", 1000);
}

void bench_slow(void)
{
    bench_held("slow", 2, push_slow);
}

/* Counts the commands that MONITOR shows in this time, except those from within scripts, which it
 * marks "lua". */
static double monitored(struct stage *stage, double seconds)
{
    redisContext *redis = server_connect(&stage->server);
    double until = now_monotonic() + seconds, count = 0, left;
    redisReply *reply = redis ? redisCommand(redis, "MONITOR") : NULL;

    if (!reply)
        fatal("MONITOR: no answer");
    freeReplyObject(reply);
    while ((left = until - now_monotonic()) > 0) {
        struct pollfd poller = { .fd = redis->fd, .events = POLLIN };

        if (poll(&poller, 1, (int)ceil(left * 1000)) <= 0)
            continue;
        if (redisBufferRead(redis) != REDIS_OK)
            fatal("MONITOR: %s", redis->errstr);
        while (redisGetReplyFromReader(redis, (void **)&reply) == REDIS_OK && reply) {
            count += strstr(reply->str, " lua]") == NULL;
            freeReplyObject(reply);
            reply = NULL;
        }
    }
    redisFree(redis);
    return count;
}

void bench_idle(void)
{
    double seconds = quick ? 4 : 20, redis, laterd, sent;
    struct stage stage;

    stage_open(&stage, NULL);
    stage_start(&stage, 4, "( { name = \"bench\"; }, { name = \"b\"; }, { name = \"c\"; } )");
    sleep_seconds(1);
    redis = cpu_of(stage.server.pid);
    laterd = cpu_of_tree(stage.laterd);
    sleep_seconds(seconds);
    redis = cpu_of(stage.server.pid) - redis;
    laterd = cpu_of_tree(stage.laterd) - laterd;
    sent = monitored(&stage, seconds);
    stage_close(&stage);
    row_begin("idle");
    row_number("workers", 4);
    row_number("queues", 3);
    row_number("seconds", seconds);
    row_number("sent_per_second", sent / seconds);
    row_number("laterd_cpu_percent", laterd / seconds * 100);
    row_number("redis_cpu_percent", redis / seconds * 100);
    row_end();
}
