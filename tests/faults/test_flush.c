/*
 * test_flush.c: scripts that vanish all the time. It compares rates, so it has a processor for
 * itself. It measures in turns, and the best turn counts, since other load only makes a turn
 * slower.
 */
#include "arena.h"
#include "tap.h"

#include <stdio.h>

enum { JOBS = 3000, TURNS = 3 };

/* Jobs a second, with or without SCRIPT FLUSH every 50 ms. */
static double throughput(struct arena *arena, const char *prefix, int turn, bool flush)
{
    double start, flushed = 0;
    char id[32];

    arena_do(arena, "SET later:{default}:paused 1");
    arena_sleep(0.3);
    for (int i = 0; i < JOBS; i++) {
        snprintf(id, sizeof id, "%s-%d-%d", prefix, turn, i);
        arena_push(arena, id, "trace", "sleep 1");
    }
    arena_do(arena, "DEL later:{default}:paused");
    start = arena_now();
    arena_do(arena, "LPUSH later:{default}:wake 1");
    while (arena_ask(arena, "ZCARD later:{default}:ready") > 0 ||
           arena_ask(arena, "ZCARD later:{default}:reserved") > 0) {
        if (flush && arena_now() - flushed > 0.05) {
            arena_do(arena, "SCRIPT FLUSH");
            flushed = arena_now();
        }
        arena_sleep(0.005);
        if (arena_now() > start + 60)
            break;
    }
    return JOBS / (arena_now() - start);
}

static void test_flush(struct arena *arena)
{
    struct tally tally;
    double plain = 0, flushed = 0, rate;

    for (int i = 0; i < TURNS && (i == 0 || flushed < 0.7 * plain); i++) {
        if ((rate = throughput(arena, "plain", i, false)) > plain)
            plain = rate;
        if ((rate = throughput(arena, "flush", i, true)) > flushed)
            flushed = rate;
    }
    tap_ok(flushed >= 0.7 * plain, "SCRIPT FLUSH every 50 ms: %.0f jobs/s of %.0f (at least 70 %%)",
           flushed, plain);
    if (arena_tally(arena, &tally) == 0) {
        tap_ok(tally.lost == 0 && tally.duplicated == 0 && tally.conserved,
               "nothing lost or twice");
        tally_free(&tally);
    }
}

int main(void)
{
    struct arena arena;

    if (arena_open(&arena, NULL) == 0 && arena_start(&arena, 0, "workers = 2;") == 0) {
        test_flush(&arena);
        tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    } else {
        tap_ok(false, "an arena");
    }
    arena_close(&arena);
    return tap_end();
}
