/* test_redis.c: a Redis that dies, refuses, or is full. */
#include "arena.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTAGE 5.0

/* With everysec a write may be delayed for up to 2 s while the disk is busy, though it is answered.
 * What a kill -9 loses then is Redis's loss, not ours (test_past tests it). `no` writes at once. */
#define DURABLE "appendonly yes\nappendfsync no\n"

/* A job that begins after Redis is back, however few others are left by then. */
static void push_after(struct arena *arena, size_t number)
{
    char id[32];

    snprintf(id, sizeof id, "after-%zu", number);
    arena_push(arena, id, "trace", "ok");
}

/* Seconds from `when` until the next job began. */
static double resumed(const struct tally *tally, double when)
{
    double best = 1e9;

    for (size_t i = 0; i < tally->run_count; i++) {
        if (tally->runs[i].start > when && tally->runs[i].start - when < best)
            best = tally->runs[i].start - when;
    }
    return best;
}

/* --- kill -9 --- */

static void test_kills(void)
{
    enum { KILLS = 20 };
    const struct produce load = {
        .prefix = "r", .seed = 7, .burst = 10, .slow_ms = 20, .rate = 200, .seconds = 1e6
    };
    struct arena arena;
    struct tally tally;
    double up[KILLS], start, worst = 0;
    size_t kills = 0;
    pid_t producer;

    if (!arena_enter(&arena, DURABLE, "workers = 4; lease = 15.0;"))
        return;
    srandom(7);
    producer = arena_produce(&arena, &load);
    while (kills < KILLS) {
        arena_sleep(0.3 + 0.001 * arena_random(200));
        start = arena_now();
        server_end(&arena.redis, SIGKILL);
        arena_sleep(0.001 * arena_random(400));
        if (server_again(&arena.redis) < 0)
            break;
        up[kills++] = arena_now();
        arena_fault(&arena, start, "kill -9 of Redis");
    }
    push_after(&arena, 0);
    kill(producer, SIGTERM);
    arena_produced(producer);
    tap_ok(kills == KILLS, "Redis comes back each time");
    tap_ok(arena_drained(&arena, 60), "after %d times kill -9 of Redis all jobs are over", KILLS);
    if (arena_tally(&arena, &tally) == 0) {
        for (size_t i = 0; i < kills; i++)
            worst = resumed(&tally, up[i]) > worst ? resumed(&tally, up[i]) : worst;
        tap_ok(tally.acked > 200, "%zu jobs", tally.acked);
        tap_ok(tally.lost == 0 && tally.unexpected == 0, "lost %zu, unexpected %zu", tally.lost,
               tally.unexpected);
        tap_ok(tally.twice == 0 && tally.unexplained == 0, "%zu run twice", tally.twice);
        tap_ok(arena_soon(worst, 2), "going on at most %.2f s after Redis answers", worst);
        tap_ok(tally.conserved, "the counters add up");
        tally_free(&tally);
    }
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
}

/* --- away for long --- */

/* More than a lease and the longest wait of a link; a job that runs meanwhile runs once. */
static void test_away(bool killed)
{
    const char *what = killed ? "kill -9 of Redis" : "SIGSTOP of Redis";
    const struct produce load = {
        .prefix = "a", .seed = 9, .burst = 10, .slow_ms = 20, .rate = 100, .seconds = 11
    };
    struct arena arena;
    struct tally tally;
    double start, up;
    pid_t producer;

    if (!arena_enter(&arena, DURABLE, "workers = 4; lease = 6.0;"))
        return;
    arena_push(&arena, "long", "trace", "sleep 15000");
    arena_seen(&arena, "B long ", 1, 5);
    producer = arena_produce(&arena, &load);
    arena_sleep(1);
    start = arena_now();
    if (killed) {
        server_end(&arena.redis, SIGKILL);
        arena_sleep(8);
        tap_ok(server_again(&arena.redis) == 0, "Redis comes back");
    } else {
        kill(arena.redis.pid, SIGSTOP);
        arena_sleep(8);
        kill(arena.redis.pid, SIGCONT);
    }
    up = arena_now();
    arena_fault(&arena, start, what);
    push_after(&arena, 0);
    arena_produced(producer);
    tap_ok(arena_drained(&arena, 15), "after 8 s of %s all jobs are over", what);
    if (arena_tally(&arena, &tally) == 0) {
        const struct run *run = tally_first(&tally, "long");

        tap_ok(arena_soon(resumed(&tally, up), 2), "going on %.2f s after Redis answers",
               resumed(&tally, up));
        tap_ok(tally.lost == 0 && tally.unexpected == 0 && tally.conserved,
               "lost %zu, unexpected %zu, the counters add up", tally.lost, tally.unexpected);
        tap_ok(tally.duplicated == 0, "%zu run twice", tally.duplicated);
        tap_ok(run && !tally_next(&tally, run), "a job longer than all that ran once");
        tally_free(&tally);
    }
    tap_ok(arena_logged(&arena, 0, "redis is away") <= 2, "the log tells of it once");
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
}

/* --- error replies --- */

static bool full(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET maxmemory 1");
}
static bool not_full(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET maxmemory 0");
}
static bool read_only(struct arena *arena)
{
    return arena_do(arena, "REPLICAOF 127.0.0.1 1");
}
static bool writable(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET replica-serve-stale-data yes") &&
           arena_do(arena, "REPLICAOF NO ONE");
}
static bool master_down(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET replica-serve-stale-data no") && read_only(arena);
}
static bool no_replicas(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET min-replicas-to-write 1");
}
static bool replicas(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET min-replicas-to-write 0");
}
/* This blocks us for as long, too. */
static bool busy(struct arena *arena)
{
    return arena_occupy(arena, 5.5);
}
static bool nothing(struct arena *arena)
{
    (void)arena;
    return true;
}
/* Some seconds of LOADING. */
static bool loading(struct arena *arena)
{
    if (!arena_do(arena, "DEBUG POPULATE 10000 filler") || !arena_do(arena, "BGREWRITEAOF"))
        return false;
    arena_sleep(0.5);
    server_end(&arena->redis, SIGKILL);
    return server_again(&arena->redis) == 0 && arena_redis(arena);
}
/* A snapshot that cannot be written. */
static bool no_snapshot(struct arena *arena)
{
    char folder[128];

    snprintf(folder, sizeof folder, "%s/gone", arena->redis.folder);
    if (mkdir(folder, 0700) < 0 || !arena_do(arena, "CONFIG SET dir %s", folder) ||
        rmdir(folder) < 0 || !arena_do(arena, "CONFIG SET save %s", "3600 1"))
        return false;
    return arena_do(arena, "BGSAVE");
}
static bool snapshot(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET save %s", "") &&
           arena_do(arena, "CONFIG SET dir %s", arena->redis.folder);
}
static bool few_clients(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET maxclients 3") &&
           arena_do(arena, "CLIENT KILL TYPE normal SKIPME yes");
}
static bool many_clients(struct arena *arena)
{
    return arena_do(arena, "CONFIG SET maxclients 1000");
}
static bool forget_scripts(struct arena *arena)
{
    double until = arena_now() + OUTAGE;

    while (arena_now() < until && arena_do(arena, "SCRIPT FLUSH"))
        arena_sleep(0.05);
    return true;
}

static const struct {
    const char *name;
    bool (*begin)(struct arena *), (*heal)(struct arena *);
    bool lasts; /* `begin` takes the time of the outage itself */
} refusals[] = {
    { "OOM", full, not_full, false },
    { "READONLY", read_only, writable, false },
    { "MASTERDOWN", master_down, writable, false },
    { "NOREPLICAS", no_replicas, replicas, false },
    { "BUSY", busy, nothing, true },
    { "LOADING", loading, nothing, true },
    { "MISCONF", no_snapshot, snapshot, false },
    { "max clients", few_clients, many_clients, false },
    { "NOSCRIPT", forget_scripts, nothing, true },
};

/* Leases are shorter than the outage: jobs in hand must not lapse before they are renewed. */
static void test_refusals(void)
{
    const size_t count = sizeof refusals / sizeof *refusals;
    struct arena arena;
    struct tally tally;
    double healed[16];

    if (!arena_enter(&arena,
                     DURABLE "enable-debug-command yes\nenable-protected-configs yes\n"
                             "key-load-delay 200\nloading-process-events-interval-bytes 1024\n",
                     "workers = 3; lease = 4.5;"))
        return;
    for (size_t i = 0; i < count; i++) {
        char prefix[16];
        const struct produce load = { .prefix = prefix,
                                      .seed = (unsigned)i,
                                      .burst = 5,
                                      .slow_ms = 40,
                                      .rate = 60,
                                      .seconds = OUTAGE + 2 };
        pid_t producer;
        double start;

        snprintf(prefix, sizeof prefix, "long-%zu", i); /* runs through the outage to its end */
        arena_push(&arena, prefix, "trace", "sleep 7500");
        snprintf(prefix, sizeof prefix, "e%zu", i);
        producer = arena_produce(&arena, &load);
        arena_sleep(0.5);
        start = arena_now();
        if (!refusals[i].begin(&arena))
            tap_ok(false, "%s cannot be made", refusals[i].name);
        if (!refusals[i].lasts)
            arena_sleep(OUTAGE);
        refusals[i].heal(&arena);
        healed[i] = arena_now();
        tap_note("%s for %.1f s", refusals[i].name, healed[i] - start);
        push_after(&arena, i);
        arena_produced(producer);
        tap_ok(arena_drained(&arena, 10), "after %s all jobs are over", refusals[i].name);
    }
    if (arena_tally(&arena, &tally) == 0) {
        for (size_t i = 0; i < count; i++)
            tap_ok(arena_soon(resumed(&tally, healed[i]), 2), "after %s it goes on in %.2f s",
                   refusals[i].name, resumed(&tally, healed[i]));
        tap_ok(tally.lost == 0 && tally.unexpected == 0, "lost %zu, unexpected %zu", tally.lost,
               tally.unexpected);
        tap_ok(tally.duplicated == 0, "duplicates %zu", tally.duplicated);
        tap_ok(tally.dead == 0 && tally.conserved, "none dead, the counters add up");
        tally_free(&tally);
    }
    tap_ok(arena_alive(&arena, 0), "laterd is alive");
    tap_ok(arena_stop(&arena, 0) == 0, "and stops");
    arena_close(&arena);
}

/* --- full --- */

static void test_full(void)
{
    struct arena arena;
    struct tally tally;
    struct later_error err;
    struct later_client *client;
    const struct later_new_job job = { .id = "refused", .type = "trace" };
    char id[32];

    if (!arena_enter(&arena, NULL, "workers = 2; lease = 3.0;"))
        return;
    arena_do(&arena, "SET later:{default}:paused 1");
    for (int i = 0; i < 200; i++) {
        snprintf(id, sizeof id, "full-%d", i);
        arena_push(&arena, id, "trace", i == 0 ? "sleep 10000" : "sleep 5");
    }
    full(&arena);
    arena_do(&arena, "DEL later:{default}:paused");
    client = later_client_open(arena.url, &err);
    tap_ok(later_push(client, "default", &job, NULL, NULL, &err) < 0 && strstr(err.text, "OOM"),
           "a full Redis refuses a push: %s", err.text);
    tap_ok(arena_seen(&arena, "E full-0 ", 1, 15) > 0 && arena_drained(&arena, 5),
           "what is there is done");
    not_full(&arena);
    later_client_close(client);
    tap_ok(arena_push(&arena, "refused", "trace", "ok") == 0, "with room again it takes it");
    tap_ok(arena_seen(&arena, "E refused ", 1, 2) > 0, "and it runs");
    arena_drained(&arena, 3);
    if (arena_tally(&arena, &tally) == 0) {
        const struct run *run = tally_first(&tally, "full-0");

        tap_ok(run && !tally_next(&tally, run), "a job of three leases ran once");
        tap_ok(tally.lost == 0 && tally.done == 201 && tally.conserved, "nothing is lost");
        tally_free(&tally);
    }
    arena_stop(&arena, 0);
    arena_close(&arena);
}

int main(void)
{
    test_kills();
    test_away(true);
    test_away(false);
    test_refusals();
    test_full();
    return tap_end();
}
