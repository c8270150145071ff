/*
 * test_shards.c: the number of a queue's shards is changed, up and down, on a live queue under two
 * laterds, one of which is not told.
 *
 * Four processes push the same ids, each a while after the one before, so that an id comes again
 * when its job waits, runs or has ended, under this plan and the next: one by one and many at once.
 * `unique_for` keeps an id taken behind the job's end. So each id is pushed once and runs once, or
 * the fences, or the looking at former places, do not hold.
 */
#include "arena.h"
#include "redis/slot.h"
#include "tap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PUSHERS 4
#define LAG     1.1 /* seconds between them */
#define RATE    400 /* ids a second, of each */
#define MANY    40  /* in one later_push_many() */

static const unsigned counts[] = { 4, 8, 3, 1, 8 };
#define CHANGES (sizeof counts / sizeof *counts)

struct pushed {
    unsigned pushed, known, failed;
    volatile unsigned next; /* the id that comes next; `ids`: it is done */
};

static struct arena arena;
static struct pushed *pushed; /* shared with the pushers */
static unsigned ids;
static double taken; /* seconds that an id stays taken: longer than the last pusher lags */
static pid_t pushers[PUSHERS];

static const char *options(unsigned shards)
{
    static char text[200];

    snprintf(text, sizeof text,
             "workers = 2; lease = 5.0; queues = ( { name = \"default\"; shards = %u; } );",
             shards);
    return text;
}

/* --- pushing --- */

struct making {
    char id[TALLY_ID];
    struct later_new_job job;
};

static void make(struct making *making, unsigned number)
{
    snprintf(making->id, sizeof making->id, "u-%u", number);
    making->job = (struct later_new_job){ .id = making->id,
                                          .type = "trace",
                                          .payload = "\"sleep 1\"",
                                          .unique_for = taken,
                                          .in = number % 3 ? 0 : 0.001 * (number % 2500) };
}

static void note(struct pushed *sum, FILE *log, const char *id, enum later_push_result result)
{
    if (result == LATER_IS_PUSHED) {
        sum->pushed++;
        fprintf(log, "ok %s 0\n", id);
    } else {
        sum->known++;
    }
}

static void push_one(struct later_client *client, unsigned number, struct pushed *sum, FILE *log)
{
    enum later_push_result result;
    struct later_error err;
    struct making making;

    make(&making, number);
    if (later_push(client, "default", &making.job, NULL, &result, &err) == 0) {
        note(sum, log, making.id, result);
    } else {
        sum->failed++;
        tap_note("push %s: %s", making.id, err.text);
    }
}

static void push_many(struct later_client *client, unsigned number, struct pushed *sum, FILE *log)
{
    enum later_push_result results[MANY];
    struct later_new_job jobs[MANY];
    struct making making[MANY];
    struct later_error err;

    for (unsigned i = 0; i < MANY; i++) {
        make(&making[i], number + i);
        jobs[i] = making[i].job;
        jobs[i].id = making[i].id;
    }
    if (later_push_many(client, "default", jobs, MANY, results, &err) < 0) {
        sum->failed += MANY;
        tap_note("push many from %u: %s", number, err.text);
        return;
    }
    for (unsigned i = 0; i < MANY; i++)
        note(sum, log, making[i].id, results[i]);
}

/* On a busy machine some are slower than others. Nobody is so far before another that an id might
 * not be taken any more when that one comes to it. */
static void wait_for_others(int which, unsigned number)
{
    pushed[which].next = number;
    for (int i = 0; i < PUSHERS; i++) {
        while (pushed[i].next + (unsigned)(PUSHERS * LAG * RATE) < number)
            arena_sleep(0.005);
    }
}

/* With time for a machine that is busy with other things: a push that fails would be one less. */
static struct later_client *open_client(void)
{
    struct later_client_options options = { .url = arena.url, .timeout = 60 };
    struct later_error err;

    return later_client_open_with(&options, &err);
}

/* The first one has a new client each half second, so it has the newest plan. The others learn of
 * the plan by being refused. */
static void push_all(int which)
{
    struct later_client *client = open_client();
    double start = arena_now();
    FILE *log = fopen(arena.pushed, "ae");
    unsigned step = which % 2 ? MANY : 1;

    setvbuf(log, NULL, _IOLBF, 0);
    for (unsigned number = 0; client && number < ids; number += step) {
        arena_sleep(start + (double)number / RATE - arena_now());
        wait_for_others(which, number);
        if (which == 0 && number % (RATE / 2) == 0) {
            later_client_close(client);
            client = open_client();
        }
        if (step > 1)
            push_many(client, number, &pushed[which], log);
        else
            push_one(client, number, &pushed[which], log);
    }
    pushed[which].next = ids;
    later_client_close(client);
    fclose(log);
}

static void start_pushers(void)
{
    pid_t parent = getpid();

    for (int i = 0; i < PUSHERS; i++) {
        pushed[i].next = 0;
        pushers[i] = fork();
        if (pushers[i] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        arena_sleep(i * LAG);
        push_all(i);
        _exit(0);
    }
}

/* --- looking --- */

/* The sum over the plain queue and all shards there ever were. */
static long long counted(const char *field)
{
    long long sum = arena_ask(&arena, "HGET later:{default}:stats %s", field);

    for (unsigned i = 0; i < 8; i++)
        sum += arena_ask(&arena, "HGET later:{default/%u}:stats %s", i, field);
    return sum;
}

static long long in_set(const char *set)
{
    long long sum = arena_ask(&arena, "ZCARD later:{default}:%s", set);

    for (unsigned i = 0; i < 8; i++)
        sum += arena_ask(&arena, "ZCARD later:{default/%u}:%s", i, set);
    return sum;
}

static bool drained(double seconds)
{
    double until = arena_until(seconds);

    while (in_set("ready") + in_set("delayed") + in_set("reserved") != 0) {
        if (arena_now() > until)
            return false;
        arena_sleep(0.05);
    }
    return true;
}

static bool plan_is(const char *ending, double seconds)
{
    double until = arena_until(seconds);

    for (;;) {
        redisReply *reply = redisCommand(arena_redis(&arena), "GET later:{default}:shards");
        const char *text = reply && reply->str ? reply->str : "", *counted = strchr(text, ' ');
        bool good = counted && strcmp(counted + 1, ending) == 0;

        if (!good && arena_now() > until)
            tap_note("the plan is %s", text);
        freeReplyObject(reply);
        if (good || arena_now() > until)
            return good;
        arena_sleep(0.05);
    }
}

static int take_tally(struct tally *tally)
{
    redisContext *redis[9];
    const char *queues[10] = { "default" };
    char names[8][16];

    for (unsigned i = 0; i < 9; i++)
        redis[i] = arena_redis(&arena);
    for (unsigned i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "default/%u", i);
        queues[1 + i] = names[i];
    }
    return tally_take(tally, arena.pushed, arena.trace, NULL, redis, queues);
}

/* --- what happens --- */

static void change(size_t i)
{
    char first[8];

    snprintf(first, sizeof first, "%u ", counts[i]);
    tap_ok(arena_reload(&arena, 0, options(counts[i])) == 0, "%u shards, then %u", counts[i - 1],
           counts[i]);
    arena_sleep(3);
}

static void test_changes(void)
{
    struct pushed sum = { 0 };
    struct tally tally;

    start_pushers();
    arena_sleep(2);
    for (size_t i = 1; i < CHANGES; i++)
        change(i);
    for (int i = 0; i < PUSHERS; i++) {
        while (waitpid(pushers[i], NULL, 0) < 0)
            ;
        sum.pushed += pushed[i].pushed;
        sum.known += pushed[i].known;
        sum.failed += pushed[i].failed;
    }
    tap_ok(sum.failed == 0 && sum.pushed == ids && sum.known == (PUSHERS - 1) * ids,
           "%u ids, pushed %d times each: %u were pushed, %u known, %u failed", ids, PUSHERS,
           sum.pushed, sum.known, sum.failed);
    tap_ok(counted("pushed") == (long long)ids, "Redis has counted as many");
    tap_ok(drained(30), "all jobs are over");
    if (!tap_ok(take_tally(&tally) == 0, "a tally"))
        return;
    tally_print(&tally);
    tap_ok(tally.acked == ids && tally.lost == 0 && tally.unexpected == 0,
           "lost %zu, unexpected %zu", tally.lost, tally.unexpected);
    tap_ok(tally.duplicated == 0, "run twice %zu", tally.duplicated);
    tap_ok(tally.conserved, "the counters of each shard add up");
    tap_ok(arena_ask(&arena, "HGET later:{default/7}:stats done") > 0, "the eighth shard had jobs");
    tap_ok(arena_logged(&arena, 1, "shards in Redis") > 0 &&
               arena_logged(&arena, 1, "reloaded") > 0,
           "the laterd that was not told serves them as well");
    tally_free(&tally);
}

/* Returns another id that belongs to the first of eight shards, but not to the first of six.
 * Static. */
static const char *misplaced(void)
{
    static char id[TALLY_ID];
    static unsigned number;

    do
        snprintf(id, sizeof id, "m-%u", number++);
    while (later_slot_crc16(id, strlen(id)) % 8 != 0 || later_slot_crc16(id, strlen(id)) % 6 == 0);
    return id;
}

/* Has a sweep been at the first shard: is its fence the plan's epoch? */
static bool swept(double seconds)
{
    double until = arena_until(seconds);

    while (arena_ask(&arena, "GET later:{default/0}:shards") !=
           arena_ask(&arena, "GET later:{default}:shards")) {
        if (arena_now() > until)
            return false;
        arena_sleep(0.05);
    }
    return true;
}

/* Former shards are looked after while a job is there. */
static void test_drop(void)
{
    const struct later_new_job job = {
        .id = misplaced(), .type = "trace", .payload = "\"ok\"", .in = 3600
    };

    tap_ok(arena_push_job(&arena, &job, 0) == 0, "a job for later");
    arena_reload(&arena, 0, options(6));
    tap_ok(plan_is("6 8", 10), "six shards, eight before");
    tap_ok(swept(30), "a sweep has come to the job's shard");
    arena_sleep(1);
    tap_ok(plan_is("6 8", 0), "eight are remembered, since one has a job");
    tap_ok(arena_do(&arena, "ZREM later:{default/0}:delayed %s", job.id) &&
               arena_do(&arena, "HDEL later:{default/0}:jobs %s", job.id) && plan_is("6", 60),
           "and forgotten when it is gone");
}

/* A failover that has lost the last change of the plan: shards that have heard of it refuse pushes,
 * until a laterd mends that. */
static void test_lost(void)
{
    const struct later_new_job job = { .id = misplaced(), .type = "trace", .payload = "\"ok\"" };
    double until;
    char plan[64];

    tap_ok(arena_push_job(&arena, &job, 0) == 0, "a shard hears of the plan");
    snprintf(plan, sizeof plan, "%lld 6 8", arena_ask(&arena, "GET later:{default}:shards") - 1);
    tap_ok(arena_do(&arena, "SET later:{default}:shards %s", plan), "Redis has an older one");
    later_client_close(arena.client); /* this also loses what it knows */
    arena.client = NULL;
    tap_ok(arena_do(&arena, "SET later:{default/0}:shards %lld",
                    arena_ask(&arena, "GET later:{default}:shards") + 1),
           "as the first shard knows");
    (void)misplaced();
    until = arena_until(30);
    while (arena_push_job(&arena, &job, 0) < 0 && arena_now() < until)
        arena_sleep(0.1);
    tap_ok(arena_now() < until, "pushes that it refuses come in at last");
    tap_ok(arena_logged(&arena, 0, "lost a change") + arena_logged(&arena, 1, "lost a change") > 0,
           "a laterd has seen it");
    tap_ok(plan_is("6", 60) && drained(10), "it is as it was before");
}

/* The same, but nobody is left who knew: the plan has no former count, and all start again. */
static void test_forgotten(void)
{
    const struct later_new_job job = { .id = misplaced(), .type = "trace", .payload = "\"ok\"" };
    double until;

    tap_ok(arena_stop(&arena, 0) == 0 && arena_stop(&arena, 1) == 0, "both laterds stop");
    for (unsigned i = 0; i < 6; i++)
        arena_do(&arena, "SET later:{default/%u}:shards %lld", i,
                 arena_ask(&arena, "GET later:{default}:shards") + 1);
    tap_ok(arena_push_job(&arena, &job, 0) < 0, "pushes are refused");
    arena_again(&arena, 0);
    arena_again(&arena, 1);
    tap_ok(arena_wait_ready(&arena, 0) == 0 && arena_wait_ready(&arena, 1) == 0, "and start again");
    until = arena_until(30);
    while (arena_push_job(&arena, &job, 0) < 0 && arena_now() < until)
        arena_sleep(0.1);
    tap_ok(arena_now() < until && plan_is("6", 0), "pushes come in, the plan has the same count");
    tap_ok(drained(10), "they are performed");
}

static void pause_each(bool pause)
{
    for (unsigned i = 0; i < 6; i++) {
        if (pause) {
            arena_do(&arena, "SET later:{default/%u}:paused 1", i);
        } else {
            arena_do(&arena, "DEL later:{default/%u}:paused", i);
            arena_do(&arena, "LPUSH later:{default/%u}:wake 1", i);
        }
    }
}

/* How many wait in the shard where most do and in the one where least do, all seen at one moment.
 * Returns how many wait in all. */
static long long spread(long long *most, long long *least)
{
    redisReply *reply =
        redisCommand(arena_redis(&arena), "EVAL %s 0",
                     "local all = {} for i = 0, 5 do "
                     "all[i + 1] = redis.call('ZCARD', 'later:{default/' .. i .. '}:ready') end "
                     "return all");
    long long sum = 0;

    *most = 0;
    *least = LLONG_MAX;
    for (size_t i = 0; reply && reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        long long left = reply->element[i]->integer;

        *most = left > *most ? left : *most;
        *least = left < *least ? left : *least;
        sum += left;
    }
    freeReplyObject(reply);
    return sum;
}

/* Waits until about half of 1,200 jobs are over. Returns false if it looked too late. */
static bool half_way(int round, long long *most, long long *least)
{
    double until = arena_until(20);
    long long left;

    pause_each(true);
    for (unsigned i = 0; i < 1200; i++) {
        char id[TALLY_ID];
        const struct later_new_job job = { .id = id, .type = "trace", .payload = "\"sleep 8\"" };

        snprintf(id, sizeof id, "t%d-%u", round, i);
        arena_push_job(&arena, &job, 0);
    }
    tap_ok(in_set("ready") == 1200, "1,200 jobs wait");
    pause_each(false);
    while ((left = spread(most, least)) > 600 && arena_now() < until)
        arena_sleep(0.005);
    return left > 400;
}

/* All shards have their turn: when half of the jobs are over, none is empty and none untouched. */
static void test_turns(void)
{
    long long most = 0, least = 0;

    for (int round = 0; round < 5 && !half_way(round, &most, &least); round++)
        drained(30);
    tap_ok(least > 10 && most < 170, "half way, between %lld and %lld wait in each of six shards",
           least, most);
    tap_ok(drained(30), "all are performed");
}

/* The paused whole is paused in shards that are new. */
static void test_pause(void)
{
    tap_ok(arena_do(&arena, "SET later:{default}:paused 1"), "the queue is paused");
    arena_reload(&arena, 0, options(8));
    tap_ok(plan_is("8 6", 10), "it gets another number of shards");
    for (double until = arena_until(5);
         arena_ask(&arena, "EXISTS later:{default/7}:paused") == 0 && arena_now() < until;)
        arena_sleep(0.02);
    tap_ok(arena_ask(&arena, "EXISTS later:{default/7}:paused") == 1, "they are paused too");
}

int main(void)
{
    ids = (tap_long() ? 40 : 13) * RATE / MANY * MANY;
    pushed = mmap(NULL, PUSHERS * sizeof *pushed, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!tap_ok(
            pushed != MAP_FAILED && arena_open(&arena, NULL) == 0 &&
                arena_start(&arena, 0, options(counts[0])) == 0 &&
                arena_start(&arena, 1,
                            "workers = 2; lease = 5.0; queues = ( { name = \"default\"; } );") == 0,
            "an arena, two laterds")) {
        arena_close(&arena);
        return tap_end();
    }
    taken = 20 + 6 * arena_busy();
    test_changes();
    tap_ok(plan_is("8", 90 + taken), "no former number is left when all their jobs are over");
    test_drop();
    test_lost();
    test_forgotten();
    test_turns();
    test_pause();
    for (int n = 0; n < 2; n++)
        tap_ok(arena_stop(&arena, n) == 0, "laterd %d stops", n);
    arena_close(&arena);
    return tap_end();
}
