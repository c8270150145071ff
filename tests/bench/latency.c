/* latency.c: how soon a job begins: pushed to an idle worker; delayed. */
#include "ceiling.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "later/client.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACE   0.020 /* seconds between pushes */
#define PUSHES 400
#define QUEUES_4                                                                                   \
    "( { name = \"a\"; }, { name = \"bench\"; }, { name = \"c\"; }, { name = \"d\"; } )"
#define DELAYED 300
#define SPREAD  4.0 /* seconds over which they are due */

static double ping(redisContext *redis)
{
    double start = now_monotonic();
    redisReply *reply = redisCommand(redis, "PING");

    if (!reply)
        fatal("PING: %s", redis->errstr);
    freeReplyObject(reply);
    return now_monotonic() - start;
}

static void push(struct later_client *client, const char *type, const char *payload, double at)
{
    struct later_new_job job = { .type = type, .payload = payload, .at = at };
    struct later_error err;

    if (later_push(client, STAGE_QUEUE, &job, NULL, NULL, &err) < 0)
        fatal("%s", err.text);
}

/* What the probe wrote, when it is `count` pairs; the differences into seconds. */
static size_t differences(struct stage *stage, size_t count, double *seconds)
{
    static double pairs[PUSHES + DELAYED][2];
    double until = now_monotonic() + 10;
    size_t got = 0;

    while (got < count) {
        got += stage_probed(stage, pairs + got, count - got);
        if (now_monotonic() > until)
            fatal("%zu of %zu jobs began", got, count);
        sleep_seconds(0.02);
    }
    for (size_t i = 0; i < got; i++)
        seconds[i] = pairs[i][1] - pairs[i][0];
    return got;
}

/* A push each 20 ms, and a PING in the middle between two. */
static void one_run(struct stage *stage, struct later_client *client, size_t count, double *pings,
                    double *waits)
{
    double next = now_monotonic();
    char payload[64];

    for (size_t i = 0; i < count; i++) {
        sleep_seconds(next - now_monotonic());
        snprintf(payload, sizeof payload, "{\"at\":%.9f}", now_monotonic());
        push(client, "probe.mark", payload, 0);
        sleep_seconds(next + PACE / 2 - now_monotonic());
        pings[i] = ping(stage->redis);
        next += PACE;
    }
    differences(stage, count, waits);
}

static void latency(const char *queues, int queue_count, size_t runs)
{
    static double pings[PUSHES], waits[PUSHES];
    double best[5] = { INFINITY }; /* p50, its ratio, p99, its ratio, PING */
    size_t count = quick ? 100 : PUSHES;
    struct later_client *client;
    struct later_error err;
    struct stage stage;

    stage_open(&stage, NULL);
    stage_start(&stage, 1, queues);
    client = later_client_open(stage.url, &err);
    if (!client)
        fatal("%s", err.text);
    one_run(&stage, client, 20, pings, waits); /* warm */
    for (size_t i = 0; i < runs; i++) {
        double p50, p99, base;

        one_run(&stage, client, count, pings, waits);
        base = median(pings, count);
        p50 = percentile(waits, count, 0.50);
        p99 = percentile(waits, count, 0.99);
        if (i == 0 || p50 / base < best[1])
            best[0] = p50, best[1] = p50 / base, best[4] = base;
        if (i == 0 || p99 / base < best[3])
            best[2] = p99, best[3] = p99 / base;
    }
    later_client_close(client);
    stage_close(&stage);
    row_begin("latency");
    row_number("queues", queue_count);
    row_number("runs", (double)runs);
    row_number("ping_ms", best[4] * 1000);
    row_number("p50_ms", best[0] * 1000);
    row_number("p50_pings", best[1]);
    row_number("p99_ms", best[2] * 1000);
    row_number("p99_pings", best[3]);
    row_end();
}

void bench_latency(void)
{
    latency(NULL, 1, quick ? 1 : 5);
    latency(QUEUES_4, 4, quick ? 1 : 5);
}

/* Jobs due at any moment of some seconds. laterd and Redis have the same clock here. */
void bench_lateness(void)
{
    static double late[DELAYED];
    double best50 = INFINITY, best99 = INFINITY, most = 0, least = INFINITY;
    size_t runs = quick ? 1 : 5, count = quick ? 60 : DELAYED;
    double spread = quick ? 1 : SPREAD;
    struct later_client *client;
    struct later_error err;
    struct stage stage;

    stage_open(&stage, NULL);
    stage_start(&stage, 2, NULL);
    client = later_client_open(stage.url, &err);
    if (!client)
        fatal("%s", err.text);
    srand48(7);
    for (size_t i = 0; i < runs; i++) {
        double start = now_unix() + 0.3;

        for (size_t n = 0; n < count; n++) {
            /* Whole microseconds, as they are pushed. */
            double at = floor((start + drand48() * spread) * 1e6) / 1e6;
            char payload[64];

            snprintf(payload, sizeof payload, "{\"at\":%.6f}", at);
            push(client, "probe.wall", payload, at);
        }
        sleep_seconds(start + spread - now_unix());
        differences(&stage, count, late);
        best50 = fmin(best50, percentile(late, count, 0.50));
        best99 = fmin(best99, percentile(late, count, 0.99));
        least = fmin(least, late[0]); /* percentile() has sorted them */
        most = fmax(most, late[count - 1]);
    }
    later_client_close(client);
    stage_close(&stage);
    row_begin("lateness");
    row_number("runs", (double)runs);
    row_number("p50_ms", best50 * 1000);
    row_number("p99_ms", best99 * 1000);
    row_number("least_ms", least * 1000);
    row_number("most_ms", most * 1000);
    row_end();
}

/* The longest call in Redis's slow log, in milliseconds, and what it was. */
static double longest_call(struct stage *stage, char *what, size_t room)
{
    redisReply *reply = stage_ask(stage, "SLOWLOG GET -1");
    double longest = 0;

    snprintf(what, room, "none");
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *entry = reply->element[i];
        double ms = (double)entry->element[2]->integer / 1000;

        if (ms > longest && strcmp(entry->element[3]->element[0]->str, "FLUSHALL") != 0) {
            longest = ms;
            snprintf(what, room, "%.40s", entry->element[3]->element[1]->str);
        }
    }
    freeReplyObject(reply);
    return longest;
}

/* They fall due while laterd is not there; then it comes. */
void bench_due(void)
{
    size_t runs = quick ? 1 : 5, count = quick ? 100000 : 1000000;
    double best = INFINITY, seconds = INFINITY;
    char what[64], of_best[64] = "";

    for (size_t i = 0; i < runs; i++) {
        struct stage stage;
        double start, longest;

        stage_open(&stage, "slowlog-log-slower-than 500\nslowlog-max-len 100000\n");
        ceiling_push(&stage, count, 100, 0.000001);
        freeReplyObject(stage_ask(&stage, "SLOWLOG RESET"));
        start = now_monotonic();
        stage_start_only(&stage, 2, NULL);
        while (stage_ask_number(&stage, "ZCARD %s", stage.keys.name[LATER_KEY_DELAYED]) > 0)
            sleep_seconds(0.05);
        seconds = fmin(seconds, now_monotonic() - start);
        longest = longest_call(&stage, what, sizeof what);
        if (longest < best) {
            best = longest;
            strcpy(of_best, what);
        }
        stage_close(&stage);
    }
    row_begin("due");
    row_number("jobs", (double)count);
    row_number("runs", (double)runs);
    row_number("longest_ms", best);
    row_text("sha", of_best);
    row_number("promoted_s", seconds);
    row_end();
}
