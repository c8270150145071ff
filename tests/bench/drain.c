/* drain.c: how fast jobs that do nothing are performed. */
#include "ceiling.h"
#include "measure.h"
#include "scenarios.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 9

/* laterd is there, idle, its queue paused and filled: how long until all is done? */
static struct speed drain(struct stage *stage, double count)
{
    double done = stage_done(stage), start, redis, laterd, sent;
    struct speed speed;

    sent = sent_commands(stage->redis);
    laterd = cpu_of_tree(stage->laterd);
    redis = cpu_of(stage->server.pid);
    start = now_monotonic();
    stage_resume(stage, stage->keys.queue);
    speed.seconds = stage_wait_done(stage, done + count) - start;
    speed.redis = cpu_of(stage->server.pid) - redis;
    speed.client = cpu_of_tree(stage->laterd) - laterd;
    speed.sent = sent_commands(stage->redis) - sent;
    return speed;
}

/* One side's runs: what is told of each job. */
struct tally {
    double rate[RUNS_MAX], redis[RUNS_MAX], client[RUNS_MAX], sent[RUNS_MAX];
    size_t runs;
};

static void note(struct tally *tally, const struct speed *speed, double count)
{
    size_t i = tally->runs++;

    tally->rate[i] = count / speed->seconds;
    tally->redis[i] = speed->redis / count * 1e6;
    tally->client[i] = speed->client / count * 1e6;
    tally->sent[i] = speed->sent / count;
}

static void tell(struct tally *tally, const char *client_name)
{
    row_number("runs", (double)tally->runs);
    row_number("rate", median(tally->rate, tally->runs));
    row_number("redis_us", median(tally->redis, tally->runs));
    row_number(client_name, median(tally->client, tally->runs));
    row_number("sent", median(tally->sent, tally->runs));
}

/* The median of the ratios of the runs, each side's i-th with the other's. */
static double ratio_of(const struct tally *a, const struct tally *b)
{
    double ratios[RUNS_MAX];

    for (size_t i = 0; i < a->runs; i++)
        ratios[i] = a->rate[i] / b->rate[i];
    return median(ratios, a->runs);
}

/* Redis's and laterd's CPU a job, in microseconds; a busy machine hardly changes it. */
static double cpu_of_runs(struct tally *tally)
{
    return median(tally->redis, tally->runs) + median(tally->client, tally->runs);
}

static void tell_row(const char *bench, int workers, size_t bytes, double jobs)
{
    row_begin(bench);
    row_number("workers", workers);
    row_number("payload", (double)bytes);
    row_number("jobs", jobs);
}

/* The ceiling and laterd in turns, on the same Redis. */
static void compare(int workers, size_t bytes, size_t count, size_t runs)
{
    struct tally ceiling = { .runs = 0 }, us = { .runs = 0 };
    struct stage stage;
    double ratio;

    stage_open(&stage, NULL);
    stage_start(&stage, workers, NULL);
    for (size_t i = 0; i < runs; i++) {
        struct speed speed;

        stage_pause(&stage, NULL);
        ceiling_push(&stage, count, bytes, 0);
        speed = drain(&stage, (double)count);
        note(&us, &speed, (double)count);
        stage_stop(&stage);
        ceiling_push(&stage, count, bytes, 0);
        speed = ceiling_drain(&stage, workers);
        note(&ceiling, &speed, (double)count);
        if (i + 1 < runs)
            stage_start(&stage, workers, NULL);
    }
    stage_close(&stage);
    ratio = ratio_of(&us, &ceiling);
    tell_row("drain", workers, bytes, (double)count);
    tell(&us, "laterd_us");
    row_number("ratio", ratio);
    row_end();
    tell_row("ceiling", workers, bytes, (double)count);
    tell(&ceiling, "client_us");
    row_end();
}

void bench_drain(void)
{
    size_t runs = quick ? 1 : 5, count = quick ? 20000 : 200000;

    compare(1, 100, count, runs);
    compare(2, 100, count, runs);
    compare(4, 100, count, runs);
    compare(1, 4096, quick ? 5000 : 50000, runs);
    compare(1, 65536, quick ? 500 : 5000, runs);
}

/* Fills the paused queue and drains it. */
static struct speed fill_and_drain_of(struct stage *stage, size_t count, size_t bytes)
{
    stage_pause(stage, NULL);
    ceiling_push(stage, count, bytes, 0);
    return drain(stage, (double)count);
}

static struct speed fill_and_drain(struct stage *stage, size_t count)
{
    return fill_and_drain_of(stage, count, 100);
}

/* One run on a fresh laterd. */
static struct speed fresh(struct stage *stage, const char *queues, size_t count)
{
    struct speed speed;

    stage_start(stage, 1, queues);
    speed = fill_and_drain(stage, count);
    stage_stop(stage);
    return speed;
}

void bench_queues(void)
{
    static const char *const lists[] = {
        "( { name = \"a\"; }, { name = \"b\"; }, { name = \"c\"; }, { name = \"d\"; },"
        " { name = \"e\"; }, { name = \"f\"; }, { name = \"g\"; }, { name = \"bench\"; } )",
        "( { name = \"a\"; weight = 9; }, { name = \"b\"; weight = 9; },"
        " { name = \"c\"; weight = 9; }, { name = \"d\"; weight = 9; },"
        " { name = \"e\"; weight = 9; }, { name = \"f\"; weight = 9; },"
        " { name = \"g\"; weight = 9; }, { name = \"bench\"; weight = 1; } )"
    };
    size_t runs = quick ? 1 : 5, count = quick ? 20000 : 200000;

    for (size_t list = 0; list < 2; list++) {
        struct tally one = { .runs = 0 }, eight = { .runs = 0 };
        struct stage stage;
        double ratio;

        stage_open(&stage, NULL);
        for (size_t i = 0; i < runs; i++) {
            struct speed speed = fresh(&stage, NULL, count);

            note(&one, &speed, (double)count);
            speed = fresh(&stage, lists[list], count);
            note(&eight, &speed, (double)count);
        }
        stage_close(&stage);
        ratio = ratio_of(&eight, &one);
        row_begin("queues");
        row_text("order", list == 0 ? "strict" : "weighted");
        row_number("queues", 8);
        tell(&eight, "laterd_us");
        row_number("ratio", ratio);
        row_end();
    }
}

/* Drains 100,000 jobs of a backlog of `backlog`. If there are no more than that, ten thousand at a
 * time. */
static struct speed drain_backlog(struct stage *stage, size_t backlog, size_t count)
{
    struct speed sum = { 0 };
    size_t done = 0;

    while (done < count) {
        size_t now = backlog < count ? backlog : count;
        struct speed speed;

        stage_pause(stage, NULL);
        ceiling_push(stage, backlog, 100, 0);
        speed = drain(stage, (double)now);
        sum.seconds += speed.seconds;
        sum.redis += speed.redis;
        sum.client += speed.client;
        sum.sent += speed.sent;
        done += now;
    }
    return sum;
}

void bench_backlog(void)
{
    size_t runs = quick ? 1 : 5, large = quick ? 100000 : 1000000, small = 10000;
    size_t count = quick ? 20000 : 200000;
    struct tally few = { .runs = 0 }, many = { .runs = 0 };
    double ratio;

    for (size_t i = 0; i < runs; i++) {
        struct stage stage;
        struct speed speed;

        stage_open(&stage, NULL);
        stage_start(&stage, 1, NULL);
        speed = drain_backlog(&stage, small, count);
        note(&few, &speed, (double)count);
        speed = drain_backlog(&stage, large, count);
        note(&many, &speed, (double)count);
        stage_close(&stage);
    }
    ratio = ratio_of(&many, &few);
    row_begin("backlog");
    row_number("backlog", (double)small);
    tell(&few, "laterd_us");
    row_end();
    row_begin("backlog");
    row_number("backlog", (double)large);
    tell(&many, "laterd_us");
    row_number("ratio", ratio);
    row_end();
}

void bench_aof(void)
{
    size_t runs = quick ? 1 : 3, count = quick ? 20000 : 200000;
    struct tally push = { .runs = 0 }, us = { .runs = 0 };
    struct stage stage;

    stage_open(&stage, "appendonly yes\nappendfsync everysec\n");
    stage_start(&stage, 1, NULL);
    for (size_t i = 0; i < runs; i++) {
        struct speed speed;

        stage_pause(&stage, NULL);
        speed = ceiling_push(&stage, count, 100, 0);
        note(&push, &speed, (double)count);
        speed = drain(&stage, (double)count);
        note(&us, &speed, (double)count);
    }
    stage_close(&stage);
    row_begin("aof");
    row_text("part", "push");
    tell(&push, "client_us");
    row_end();
    row_begin("aof");
    row_text("part", "drain");
    row_number("workers", 1);
    tell(&us, "laterd_us");
    row_end();
}

/* laterd's turn: Redis on 127.0.0.1, as the others have it. With $BENCH_PROGRAM a program of
 * handlers performs the jobs, which has started when it is measured; $BENCH_PEER is the row's name
 * then; with $BENCH_BYTES each document has so many bytes, all together at most $BENCH_BYTES_MAX.
 */
void bench_peer(void)
{
    const char *name = getenv("BENCH_PEER"), *size = getenv("BENCH_BYTES");
    const char *most = getenv("BENCH_BYTES_MAX");
    size_t bytes = size ? strtoul(size, NULL, 10) : 100;
    size_t in_all = most ? strtoul(most, NULL, 10) : SIZE_MAX;
    size_t count = quick || bytes > 100 ? 20000 : 200000;
    struct tally us = { .runs = 0 };
    struct stage stage;
    struct speed speed;

    stage_open_tcp(&stage);
    stage_start(&stage, 1, NULL);
    if (count > in_all / bytes)
        count = in_all / bytes;
    fill_and_drain_of(&stage, count < 1000 ? count : 1000, bytes);
    speed = fill_and_drain_of(&stage, count, bytes);
    note(&us, &speed, (double)count);
    stage_close(&stage);
    row_begin("peer");
    row_text("peer", name ? name : "laterd");
    row_number("jobs", (double)count);
    row_number("rate", us.rate[0]);
    row_number("server_us", us.redis[0]);
    row_number("worker_us", us.client[0]);
    row_end();
}

/* The same over TCP, plain and by TLS. */
void bench_tls(void)
{
    size_t runs = quick ? 1 : 5, count = quick ? 20000 : 200000;
    struct tally plain = { .runs = 0 }, tls = { .runs = 0 };
    struct stage stage;
    double ratio;

    stage_open_tcp(&stage);
    for (size_t i = 0; i < runs; i++) {
        struct speed speed = fresh(&stage, NULL, count);
        char url[sizeof stage.url];

        note(&plain, &speed, (double)count);
        memcpy(url, stage.url, sizeof url);
        stage_use_tls(&stage);
        speed = fresh(&stage, NULL, count);
        note(&tls, &speed, (double)count);
        memcpy(stage.url, url, sizeof url);
    }
    stage_close(&stage);
    ratio = ratio_of(&tls, &plain);
    row_begin("tls");
    row_text("url", "redis");
    tell(&plain, "laterd_us");
    row_end();
    row_begin("tls");
    row_text("url", "rediss");
    tell(&tls, "laterd_us");
    row_number("ratio", ratio);
    row_number("cpu_ratio", cpu_of_runs(&plain) / cpu_of_runs(&tls));
    row_end();
}
