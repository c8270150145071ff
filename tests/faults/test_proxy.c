/* test_proxy.c: a network that loses replies, is slow, or cuts connections. */
#include "arena.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>

static bool enter(struct arena *arena, const char *options)
{
    if (arena_open(arena, NULL) == 0 && arena_proxy(arena) == 0 &&
        arena_start(arena, 0, options) == 0)
        return true;
    tap_ok(false, "an arena");
    arena_close(arena);
    return false;
}

/* What must hold whatever the network did; no lease ran out meanwhile. */
static void judge(struct arena *arena, const char *what)
{
    struct tally tally;

    tap_ok(arena_drained(arena, 20), "%s: all jobs are over", what);
    if (arena_tally(arena, &tally) < 0) {
        tap_ok(false, "a tally");
        return;
    }
    tap_ok(tally.lost == 0 && tally.unexpected == 0, "%s: lost %zu, unexpected %zu", what,
           tally.lost, tally.unexpected);
    tap_ok(tally.duplicated == 0, "%s: %zu jobs ran twice", what, tally.duplicated);
    tap_ok(arena_ask(arena, "HGET later:{default}:stats pushed") ==
               (long long)(tally.acked + tally.recovered),
           "%s: none of %zu was pushed twice", what, tally.acked);
    tap_ok(tally.charged == 0 && tally.dead == 0 && tally.conserved,
           "%s: no attempt counted, none dead, the counters add up", what);
    tap_ok(arena_ask(arena, "HGET later:{default}:stats lapsed") == 0, "%s: no lease ran out",
           what);
    tally_free(&tally);
    tap_ok(arena_stop(arena, 0) == 0, "%s: laterd stops", what);
}

/* On a slow machine there are few calls in this time, so it may take longer. */
static void test_lost_replies(void)
{
    static const char *const prefixes[] = { "d", "dd", "ddd", "dddd", "ddddd" };
    struct produce load = {
        .seed = 11, .burst = 4, .slow_ms = 20, .rate = 150, .seconds = tap_long() ? 60 : 12
    };
    struct arena arena;
    int lost = 0;

    if (!enter(&arena, "workers = 3; lease = 10.0;"))
        return;
    arena_order(&arena, "drop", 100);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && lost < 3; i++) {
        load.prefix = prefixes[i];
        arena_produced(arena_produce(&arena, &load));
        lost = arena_order(&arena, "count", 0);
    }
    lost = arena_order(&arena, "drop", 0);
    tap_ok(lost >= 3, "%d calls lost their reply", lost);
    judge(&arena, "1 % of replies lost");
    arena_close(&arena);
}

static void test_slow(void)
{
    const struct produce load = {
        .prefix = "s", .seed = 12, .burst = 5, .slow_ms = 4000, .rate = 10, .seconds = 6
    };
    struct arena arena;
    pid_t producer;

    /* The longest jobs have their leases renewed once, and a standstill of some seconds is none. */
    if (!enter(&arena, "workers = 12; lease = 9.0;"))
        return;
    arena_order(&arena, "delay", 200);
    arena_order(&arena, "trickle", 1);
    producer = arena_produce(&arena, &load);
    arena_produced(producer);
    arena_order(&arena, "trickle", 0);
    arena_order(&arena, "delay", 0);
    judge(&arena, "200 ms each way, a byte at a time");
    arena_close(&arena);
}

static void test_cuts(void)
{
    const struct produce load = {
        .prefix = "c", .seed = 13, .burst = 5, .slow_ms = 30, .rate = 100, .seconds = 6
    };
    struct arena arena;
    pid_t producer;

    if (!enter(&arena, "workers = 3; lease = 10.0;"))
        return;
    producer = arena_produce(&arena, &load);
    for (int i = 0; i < 20; i++) {
        arena_sleep(0.3);
        arena_order(&arena, "cut", 0);
    }
    arena_produced(producer);
    judge(&arena, "all connections cut every 300 ms");
    arena_close(&arena);
}

/* A queue with eight jobs; its reserve's answer takes 300 ms, in each further round 100 ms more,
 * and the order to pause comes before it: the proxy stands still until then. Was that so, and did
 * what it brings go back? */
static bool paused_in_time(struct arena *arena, int round)
{
    enum { JOBS = 8 };
    char id[32], line[32];
    size_t told;
    double until;
    bool good;

    arena_do(arena, "SET later:{default}:paused 1");
    for (int i = 0; i < JOBS; i++) {
        snprintf(id, sizeof id, "p%d-%d", round, i);
        arena_push(arena, id, "trace", "sleep 1");
    }
    arena_order(arena, "delay", 300 + 100 * (unsigned)round);
    arena_do(arena, "DEL later:{default}:paused");
    arena_do(arena, "LPUSH later:{default}:wake 1");
    until = arena_until(5);
    while (arena_ask(arena, "ZCARD later:{default}:reserved") == 0 && arena_now() < until)
        arena_sleep(0.005);
    kill(arena->proxy, SIGSTOP);
    told = arena_logged(arena, 0, "paused: ");
    kill(arena->hosts[0].pid, SIGTSTP);
    until = arena_until(5);
    while (arena_logged(arena, 0, "paused: ") == told && arena_now() < until)
        arena_sleep(0.005);
    arena_sleep(0.1); /* after its word it tells the worker */
    kill(arena->proxy, SIGCONT);
    until = arena_until(5);
    while (arena_ask(arena, "ZCARD later:{default}:reserved") > 0 && arena_now() < until)
        arena_sleep(0.005);
    snprintf(line, sizeof line, "B p%d-", round);
    good = arena_ask(arena, "ZCARD later:{default}:ready") == JOBS &&
           arena_seen(arena, line, 1, 0) == 0;
    arena_order(arena, "delay", 0);
    kill(arena->hosts[0].pid, SIGCONT);
    return arena_drained(arena, 20) && good;
}

/* The order to pause comes while a reserve's answer is on its way, so what it brings is returned.
 * On a busy machine the answer may be faster; one of several rounds must succeed. */
static void test_pause(void)
{
    struct arena arena;
    bool good = false;

    if (!enter(&arena, "workers = 1; lease = 30.0;"))
        return;
    for (int round = 0; round < 6 && !good; round++)
        good = paused_in_time(&arena, round);
    tap_ok(good, "paused: what a reserve still brings goes back, not begun");
    judge(&arena, "after CONT");
    arena_close(&arena);
}

int main(void)
{
    test_lost_replies();
    test_slow();
    test_cuts();
    test_pause();
    return tap_end();
}
