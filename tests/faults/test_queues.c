/*
 * test_queues.c: two laterds with more queues than a worker waits for, one by their names, one by a
 * pattern, while supervisors are killed and stopped, Redis stands still and is killed, and
 * connections are cut.
 *
 * In each case a job is pushed into every queue, and another host has to do what one that is away
 * would have done: it had heard the wakes, or would have. The longest time until a job begins is
 * the best of up to three rounds, since other tests may have the machine.
 */
#include "arena.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUES 100 /* CONFIG_WAITED is 64 */
#define ROUNDS 3
#define WITHIN 2.0 /* seconds: a look, a migrate, and a worker that is called */
#define END    30.0

static struct arena arena;
static char names[QUEUES][16];
static unsigned pushed; /* jobs */
static bool plain;      /* by ZADD, which leaves no wake, and is not in the arena's list */

static bool enter(const char *redis_options)
{
    static const char pattern[] = "workers = 2; lease = 5.0; queues = ( { name = \"q*\"; } );";
    char options[4096] = "workers = 2; lease = 5.0; queues = (";
    size_t len = strlen(options);

    pushed = 0;
    for (int i = 0; i < QUEUES; i++) {
        snprintf(names[i], sizeof names[i], "q%d", i);
        len += (size_t)snprintf(options + len, sizeof options - len, "%s { name = \"%s\"; }",
                                i ? "," : "", names[i]);
    }
    snprintf(options + len, sizeof options - len, " );");
    if (arena_open(&arena, redis_options) == 0 && arena_start(&arena, 0, options) == 0 &&
        arena_start(&arena, 1, pattern) == 0)
        return true;
    tap_ok(false, "an arena");
    arena_close(&arena);
    return false;
}

static void push(int queue)
{
    struct later_new_job job = { .type = "trace", .payload = "\"ok\"" };
    char id[32];

    snprintf(id, sizeof id, "j%u", pushed++);
    job.id = id;
    if (plain)
        arena_do(&arena, "ZADD later:{%s}:ready 1 {\"type\":\"trace\",\"payload\":\"ok\"}",
                 names[queue]);
    else
        arena_push_in(&arena, names[queue], &job, 0);
}

static bool is_done(int queue, long long jobs)
{
    return arena_ask(&arena, "HGET later:{%s}:stats done", names[queue]) >= jobs;
}

/* Waits until each queue has done this many. Returns whether it did. */
static bool all_done(long long jobs, double seconds)
{
    double until = arena_until(seconds);
    int queue = 0;

    while (queue < QUEUES && arena_now() < until) {
        if (is_done(queue, jobs))
            queue++;
        else
            arena_sleep(0.01);
    }
    return queue == QUEUES;
}

/* A job into each queue; in how many seconds all are done, or -1. */
static double round_of(void)
{
    double start = arena_now();
    long long jobs = pushed / QUEUES + 1;

    for (int i = 0; i < QUEUES; i++)
        push(i);
    return all_done(jobs, END) ? arena_now() - start : -1;
}

/* `begin` takes something away, `end` brings it back. */
static void measure(const char *what, void (*begin)(void), void (*end)(void))
{
    double best = 1e9, seconds, start;

    for (int i = 0; i < ROUNDS && best > WITHIN; i++) {
        start = arena_now();
        begin();
        seconds = round_of();
        end();
        arena_fault(&arena, start, what);
        if (!tap_ok(seconds >= 0, "%s: a job of each of %d queues is done", what, QUEUES))
            return;
        best = seconds < best ? seconds : best;
    }
    tap_ok(arena_soon(best, WITHIN), "%s: all in %.2f s", what, best);
}

static void judge(const char *what)
{
    static const char *queues[QUEUES + 1];
    redisContext *redis[QUEUES];
    struct tally tally;

    for (int i = 0; i < QUEUES; i++) {
        queues[i] = names[i];
        redis[i] = arena_redis(&arena);
    }
    if (tally_take(&tally, arena.pushed, arena.trace, arena.faults, redis, queues) == 0) {
        tally_print(&tally);
        tap_ok(tally.lost == 0 && tally.left == 0 && tally.dead == 0 && tally.conserved,
               "%s: %zu jobs, none is lost, none is left", what, tally.acked);
        tap_ok(tally.unexplained == 0, "%s: none twice that need not be", what);
        tally_free(&tally);
    }
    tap_ok(arena_stop(&arena, 0) == 0 && arena_stop(&arena, 1) == 0, "%s: laterds stop", what);
    arena_close(&arena);
}

/* --- hosts --- */

static void nothing(void)
{
}

static void kill_first(void)
{
    arena_kill(&arena, 0, true);
}

static void start_first(void)
{
    tap_ok(arena_again(&arena, 0) == 0 && arena_wait_ready(&arena, 0) == 0, "it is started again");
}

static void stop_first(void)
{
    arena_signal(&arena, 0, SIGSTOP);
}

static void go_on_first(void)
{
    arena_signal(&arena, 0, SIGCONT);
}

/* Its workers live, but nobody calls them. */
static void stop_looker(void)
{
    kill(arena.hosts[0].pid, SIGSTOP);
}

static void go_on_looker(void)
{
    kill(arena.hosts[0].pid, SIGCONT);
}

static void test_hosts(void)
{
    if (!enter(NULL))
        return;
    measure("nothing", nothing, nothing);
    measure("kill -9 of a host", kill_first, start_first);
    measure("SIGSTOP of a host", stop_first, go_on_first);
    measure("SIGSTOP of a supervisor", stop_looker, go_on_looker);
    measure("nothing again", nothing, nothing);
    judge("hosts");
}

/* --- Redis --- */

/* The next push must not be the first to notice that its connection is gone, since its outcome
 * would be unknown. */
static void forget_client(void)
{
    later_client_close(arena.client);
    arena.client = NULL;
}

static void cut(void)
{
    forget_client();
    arena_ask(&arena, "CLIENT KILL TYPE normal SKIPME yes");
    arena_ask(&arena, "CLIENT KILL TYPE pubsub");
}

static void stop_redis(void)
{
    kill(arena.redis.pid, SIGSTOP);
    arena_sleep(1.2);
    kill(arena.redis.pid, SIGCONT);
}

static void kill_redis(void)
{
    forget_client();
    server_end(&arena.redis, SIGKILL);
    tap_ok(server_again(&arena.redis) == 0, "Redis comes back");
}

static void test_redis(void)
{
    if (!enter("appendonly yes\nappendfsync always\n"))
        return;
    measure("connections cut", cut, nothing);
    measure("SIGSTOP of Redis", stop_redis, nothing);
    measure("kill -9 of Redis", kill_redis, nothing);
    measure("and then", nothing, nothing);
    judge("redis");
}

/* --- jobs that come without a wake --- */

/* Each queue rests, so that only the look at all of them finds it. */
static void test_plain(void)
{
    if (!enter(NULL))
        return;
    plain = true;
    measure("plain ZADD", nothing, nothing);
    measure("plain ZADD, SIGSTOP of a host", stop_first, go_on_first);
    plain = false;
    tap_ok(arena_stop(&arena, 0) == 0 && arena_stop(&arena, 1) == 0, "plain: laterds stop");
    arena_close(&arena);
}

int main(void)
{
    test_hosts();
    test_redis();
    test_plain();
    return tap_end();
}
