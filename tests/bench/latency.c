/* latency.c: how soon a job begins: pushed to an idle worker; delayed. */
#include "ceiling.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include "job/document.h"
#include "later/client.h"
#include "queue/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* ---- pick-up */

static void send_command(redisContext *redis, struct later_command *cmd)
{
    redisReply *reply = NULL;

    if (!later_command_ready(cmd) ||
        redisAppendFormattedCommand(redis, cmd->data, cmd->len) != REDIS_OK ||
        redisGetReply(redis, (void **)&reply) != REDIS_OK || reply->type == REDIS_REPLY_ERROR)
        fatal("push: %s", reply ? reply->str : redis->errstr);
    freeReplyObject(reply);
    later_command_free(cmd);
}

/* What later_push() sends, on the socket that PING uses. Returns when it was sent. */
static double push_number(struct stage *stage, size_t number)
{
    char payload[32], id[LATER_NEW_ID_SIZE], call[LATER_NEW_ID_SIZE];
    struct later_new_job job = { .type = "probe.mark", .payload = payload, .id = id };
    struct later_push_item item = { .id = id };
    struct later_command cmd = { 0 };
    struct later_error err;
    double sent;
    char *document;

    job.payload_len = (size_t)snprintf(payload, sizeof payload, "{\"at\":%zu}", number);
    later_document_id(id);
    later_document_id(call);
    document = later_document_build(&job, LATER_DOCUMENT_MAX, &item.document_len, &err);
    if (!document)
        fatal("%s", err.text);
    item.document = document;
    later_queue_push(&cmd, &stage->keys, call, 0, 0, &item, 1);
    sent = now_monotonic();
    send_command(stage->redis, &cmd);
    free(document);
    return sent;
}

/* A push each 20 ms, and a PING in the middle between two. */
static void one_run(struct stage *stage, size_t count, double *pings, double *waits)
{
    static double sent[PUSHES], pairs[PUSHES][2];
    double next = now_monotonic();

    for (size_t i = 0; i < count; i++) {
        sleep_seconds(next - now_monotonic());
        sent[i] = push_number(stage, i);
        sleep_seconds(next + PACE / 2 - now_monotonic());
        pings[i] = ping(stage->redis);
        next += PACE;
    }
    stage_await_probed(stage, count, pairs);
    for (size_t i = 0; i < count; i++)
        waits[i] = pairs[i][1] - sent[(size_t)pairs[i][0]];
}

static void latency(const char *queues, int queue_count, size_t runs)
{
    static double pings[PUSHES], waits[PUSHES];
    double best[5] = { INFINITY }; /* p50, its ratio, p99, its ratio, PING */
    size_t count = quick ? 100 : PUSHES;
    struct later_command load = { 0 };
    struct stage stage;

    stage_open(&stage, NULL);
    stage_start(&stage, 1, queues);
    later_script_load(&load, LATER_SCRIPT_PUSH, false);
    send_command(stage.redis, &load);
    one_run(&stage, 20, pings, waits); /* warm */
    for (size_t i = 0; i < runs; i++) {
        double p50, p99, base;

        one_run(&stage, count, pings, waits);
        base = median(pings, count);
        p50 = percentile(waits, count, 0.50);
        p99 = percentile(waits, count, 0.99);
        if (i == 0 || p50 / base < best[1])
            best[0] = p50, best[1] = p50 / base, best[4] = base;
        if (i == 0 || p99 / base < best[3])
            best[2] = p99, best[3] = p99 / base;
    }
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

/* ---- lateness */

static void push_at(struct later_client *client, double at)
{
    char payload[64];
    struct later_new_job job = { .type = "probe.wall", .payload = payload, .at = at };
    struct later_error err;

    snprintf(payload, sizeof payload, "{\"at\":%.6f}", at);
    if (later_push(client, STAGE_QUEUE, &job, NULL, NULL, &err) < 0)
        fatal("%s", err.text);
}

/* Jobs due at any moment of some seconds. laterd and Redis have the same clock here. */
void bench_lateness(void)
{
    static double late[DELAYED], pairs[DELAYED][2];
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
            push_at(client, at);
        }
        sleep_seconds(start + spread - now_unix());
        stage_await_probed(&stage, count, pairs);
        for (size_t n = 0; n < count; n++)
            late[n] = pairs[n][1] - pairs[n][0];
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

        if (ms > longest && strcasecmp(entry->element[3]->element[0]->str, "evalsha") == 0) {
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
