/* test_stop.c: processes that are stopped (SIGSTOP) or slow, and clocks that are wrong. */
#include "arena.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEASE 3.0

/* Waits until the first laterd logs this. */
static bool told(struct arena *arena, const char *text)
{
    double until = arena_until(5);

    while (!arena_logged(arena, 0, text) && arena_now() < until)
        arena_sleep(0.02);
    return arena_logged(arena, 0, text) > 0;
}

/* Worker and keeper sleep past the lease; another host runs the job. Then they go on, and what
 * happens is told once and changes nothing. The two are woken one after the other, for who is first
 * decides: a keeper that renews the lease before the worker comes to its end ends the worker. */
static void stopped_by(bool keeper_first, const char *told_as)
{
    const char *options = "workers = 1; lease = 3.0;";
    /* Renewed each third of it, so that nobody takes the job from that one. */
    const char *other = "workers = 1; lease = 6.0;";
    struct arena arena;
    struct tally tally;
    const struct run *first, *second;
    double start;
    pid_t worker;

    if (!arena_enter(&arena, NULL, options))
        return;
    arena_push(&arena, "stopped", "trace", "sleep 4000"); /* it is stopped long before its end */
    arena_seen(&arena, "B stopped ", 1, 5);
    start = arena_now();
    tap_ok(arena_workers(&arena, 0, &worker, 1) == 1, "one worker");
    arena_signal(&arena, 0, SIGSTOP);
    if (arena_start(&arena, 1, other) < 0)
        tap_ok(false, "a second laterd");
    tap_ok(arena_seen(&arena, "E stopped ", 1, 8) > 0, "another laterd runs the job");
    tap_ok(arena_drained(&arena, 2), "and it is done");
    arena_fault(&arena, start, "SIGSTOP of worker and keeper");
    kill(keeper_first ? arena.hosts[0].pid : worker, SIGCONT);
    tap_ok(told(&arena, told_as), "%s: %s", keeper_first ? "its keeper" : "the stopped worker",
           told_as);
    arena_signal(&arena, 0, SIGCONT);
    arena_sleep(LEASE);
    if (arena_tally(&arena, &tally) == 0) {
        first = tally_first(&tally, "stopped");
        second = first ? tally_next(&tally, first) : NULL;
        tap_ok(second && arena_soon(second->start - first->start, LEASE),
               "its second run begins %.2f s after its first (lease %.1f)",
               second ? second->start - first->start : 0, LEASE);
        tap_ok(second && !tally_next(&tally, second), "there is no third");
        tap_ok(tally.lost == 0 && tally.conserved && tally.unexplained == 0 && tally.left == 0,
               "nothing is lost, the counters add up");
        tally_free(&tally);
    }
    tap_ok(arena_ask(&arena, "HGET later:{default}:stats done") == 1, "it counts as done once");
    tap_ok(arena_logged(&arena, 0, told_as) == 1, "it is told once");
    arena_close(&arena);
}

static void test_stopped(void)
{
    stopped_by(false, "was no longer ours");
    stopped_by(true, "its reservation was withdrawn: its worker is ended");
}

/* A job longer than its lease, in a handler that blocks. */
static void test_long(void)
{
    struct arena arena;
    struct tally tally;

    /* Renewed each third of it, a lease outlives a standstill of three seconds. */
    if (!arena_enter(&arena, NULL, "workers = 2; lease = 4.5;"))
        return;
    arena_push(&arena, "long", "trace", tap_long() ? "sleep 28000" : "sleep 14000");
    tap_ok(arena_seen(&arena, "E long ", 1, 35) > 0 && arena_drained(&arena, 2),
           "a job of more than three leases is done");
    if (arena_tally(&arena, &tally) == 0) {
        tap_ok(tally.run_count == 1, "in one run");
        tally_free(&tally);
    }
    tap_ok(arena_ask(&arena, "HGET later:{default}:stats lapsed") == 0, "its lease never ran out");
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
}

/* A handler that blocks every signal is over its time. */
static void test_hang(void)
{
    struct arena arena;
    const struct run *first, *second;
    struct tally tally;
    /* Only this one may be over its time. */
    const struct later_new_job hang = {
        .id = "hang", .type = "trace", .payload = "\"hang\"", .timeout = 1
    };
    double pushed, wait;

    if (!arena_enter(&arena, NULL,
                     "workers = 1; grace = 0.5; "
                     "retry = { base = 0.1; jitter = 0.0; max_attempts = 2; };"))
        return;
    pushed = arena_now();
    arena_push_job(&arena, &hang, 0);
    arena_push(&arena, "next", "trace", "ok");
    tap_ok(arena_seen(&arena, "E next ", 1, 8) > 0, "a job behind one that hangs is done");
    tap_ok(arena_drained(&arena, 8), "the one that hangs comes to its end");
    if (arena_tally(&arena, &tally) == 0) {
        first = tally_first(&tally, "hang");
        second = first ? tally_next(&tally, first) : NULL;
        wait = second ? second->start - first->start : 0;
        /* timeout and grace, then the backoff; up to a second more for the supervisor's beat. Its
         * time runs from before its handler's first line. */
        tap_ok(second && second->start - pushed >= 1.6 && arena_soon(wait, 2.6),
               "it is killed and runs again: %.2f s", wait);
        tap_ok(second && !tally_next(&tally, second) && tally.dead == 1, "then it is dead");
        tally_free(&tally);
    }
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
}

static void shift(const char *path, long long seconds)
{
    long long microseconds = seconds * 1000000;
    FILE *file = fopen(path, "r+");

    if (!file)
        file = fopen(path, "w");
    if (!file)
        return;
    fwrite(&microseconds, sizeof microseconds, 1, file);
    fclose(file);
}

/* laterd's clock jumps; Redis's does not. */
static void test_clock(void)
{
    const struct produce load = { .prefix = "c",
                                  .seed = 3,
                                  .burst = 5,
                                  .slow_ms = 20,
                                  .rate = 100,
                                  .seconds = 6,
                                  .delayed = 40 };
    struct arena arena;
    struct tally tally;
    char shim[300], path[128];
    const char *top = getenv("top_builddir");
    pid_t producer;

    if (arena_open(&arena, NULL) < 0)
        return;
    snprintf(shim, sizeof shim, "%s/tests/support/clock_shim.so", top ? top : ".");
    snprintf(path, sizeof path, "%s/shift", arena.folder);
    shift(path, 0);
    setenv("CLOCK_SHIFT", path, 1);
    arena.preload = shim;
    if (arena_start(&arena, 0, "workers = 2; lease = 5.0;") < 0) {
        tap_ok(false, "laterd with a clock that can be moved");
        arena_close(&arena);
        return;
    }
    arena_push(&arena, "through", "trace", "sleep 8000"); /* its lease is renewed meanwhile */
    producer = arena_produce(&arena, &load);
    arena_sleep(1);
    shift(path, 3600);
    arena_sleep(2);
    tap_ok(arena_logged(&arena, 0, "stopped") == 0 && arena_alive(&arena, 0), "an hour forward");
    shift(path, -3600);
    arena_sleep(2);
    shift(path, 0);
    arena_produced(producer);
    tap_ok(arena_drained(&arena, 10), "all jobs are over");
    if (arena_tally(&arena, &tally) == 0) {
        tap_ok(tally.lost == 0 && tally.unexpected == 0 && tally.duplicated == 0,
               "nothing lost, nothing twice");
        tap_ok(tally.early == 0 && tally.conserved, "nothing early");
        tally_free(&tally);
    }
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
    unsetenv("CLOCK_SHIFT");
}

int main(void)
{
    test_stopped();
    test_long();
    test_hang();
    test_clock();
    return tap_end();
}
