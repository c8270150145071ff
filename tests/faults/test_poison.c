/* test_poison.c: jobs that harm their worker, and broken documents. */
#include "arena.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t runs_of(const struct tally *tally, const char *id)
{
    size_t count = 0;

    for (const struct run *run = tally_first(tally, id); run; run = tally_next(tally, run))
        count++;
    return count;
}

static bool is_dead(struct arena *arena, const char *id)
{
    return arena_ask(arena, "ZSCORE later:{default}:dead %s", id) > 0;
}

/* --- one guilty among 300 --- */

static void test_events(void)
{
    struct arena arena;
    struct tally tally;
    size_t charged = 0;
    char id[32];

    if (!arena_enter(&arena, NULL, "workers = 1; crash_max = 3; retry = { base = 0.2; };"))
        return;
    arena_do(&arena, "SET later:{default}:paused 1");
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "ev-%d", i);
        arena_push(&arena, id, "trace.event", i == 150 ? "crash 20" : "sleep 40");
    }
    arena_do(&arena, "DEL later:{default}:paused");
    arena_do(&arena, "LPUSH later:{default}:wake 1");
    tap_ok(arena_drained(&arena, 60), "300 event jobs with one that crashes are over");
    if (arena_tally(&arena, &tally) == 0) {
        tap_ok(tally.done == 299, "%zu are done", tally.done);
        for (size_t i = 0; i < tally.run_count; i++)
            charged += tally.runs[i].attempt > 1 && strcmp(tally.runs[i].id, "ev-150") != 0;
        tap_ok(charged == 0, "none of them with an attempt (%zu)", charged);
        tap_ok(is_dead(&arena, "ev-150") && tally.dead == 1, "the guilty one is dead");
        tap_ok(arena_ask(&arena, "EVAL %s 1 later:{default}:records ev-150",
                         "return tonumber(string.match(redis.call('HGET', KEYS[1], ARGV[1]), "
                         "'c=(%d+)'))") == 3,
               "by three crashes");
        tap_ok(tally.lost == 0 && tally.conserved, "nothing is lost");
        tally_free(&tally);
    }
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
}

/* --- the nasty ones --- */

static const struct {
    const char *payload;
    size_t runs; /* that it has in the end */
    bool dead;
} nasty[] = {
    { "crash", 3, true },  { "abort", 3, true },    { "exit", 3, true },   { "kill", 3, true },
    { "hang", 2, true },   { "leak 10", 1, false }, { "close", 1, false }, { "fork", 1, false },
    { "chdir", 1, false }, { "bury", 1, true },     { "fail", 2, false },  { "ok", 1, false },
};
#define NASTY (sizeof nasty / sizeof *nasty)

static void test_nasty(void)
{
    struct arena arena;
    struct tally tally;
    char id[32];
    size_t wrong = 0, left;
    pid_t pids[16];

    if (!arena_enter(&arena, NULL,
                     "workers = 3; crash_max = 3; grace = 0.5;"
                     "retry = { max_attempts = 3; base = 0.1; max = 0.2; };"
                     "types = ( { name = \"trace\"; max_attempts = 3; } );"
                     "recycle = { memory = 64; };"))
        return;
    for (size_t i = 0; i < NASTY; i++) {
        struct later_new_job job = { .id = id, .type = "trace" };
        char payload[64];

        snprintf(id, sizeof id, "nasty-%zu", i);
        snprintf(payload, sizeof payload, "\"%s\"", nasty[i].payload);
        job.payload = payload;
        if (strcmp(nasty[i].payload, "hang") == 0) { /* only this one may be over its time */
            job.max_attempts = 2;
            job.timeout = 4;
        }
        arena_push_job(&arena, &job, 0);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "good-%d", i);
        arena_push(&arena, id, "trace", i % 10 ? "ok" : "leak 10");
    }
    tap_ok(arena_drained(&arena, 40), "among nasty jobs all are over");
    if (arena_tally(&arena, &tally) == 0) {
        for (size_t i = 0; i < NASTY; i++) {
            snprintf(id, sizeof id, "nasty-%zu", i);
            tap_ok(runs_of(&tally, id) == nasty[i].runs && is_dead(&arena, id) == nasty[i].dead,
                   "\"%s\": %zu runs, %s", nasty[i].payload, runs_of(&tally, id),
                   is_dead(&arena, id) ? "dead" : "done");
        }
        for (int i = 0; i < 300; i++) {
            snprintf(id, sizeof id, "good-%d", i);
            wrong += runs_of(&tally, id) != 1;
        }
        tap_ok(wrong == 0, "300 others ran once (%zu did not)", wrong);
        tap_ok(tally.lost == 0 && tally.unexpected == 0 && tally.duplicated == 0 && tally.conserved,
               "nothing lost, nothing twice");
        tally_free(&tally);
    }
    left = arena_workers(&arena, 0, pids, 16);
    tap_ok(arena_alive(&arena, 0) && left <= 3, "the supervisor lives, with %zu workers", left);
    tap_ok(arena_stop(&arena, 0) == 0, "and stops");
    arena_close(&arena);
}

/* --- what is no document --- */

static const char *const malformed[] = {
    "{",
    "{\"type\":\"trace\"",
    "{\"type\":5,\"n\":%u}",
    "{\"n\":%u}",
    "{\"type\":\"tr ace\",\"n\":%u}",
    "{\"type\":\"trace\",\"type\":\"trace\",\"n\":%u}",
    "{\"type\":\"trace\",\"max_attempts\":0,\"n\":%u}",
    "{\"type\":\"trace\",\"priority\":1e400,\"n\":%u}",
    "{\"type\":\"trace\",\"n\":%u}]",
    "{\"type\":\"trace\",\"payload\":\"\xff\",\"n\":%u}",
};

static void test_malformed(void)
{
    enum { BAD = 500 };
    const size_t kinds = sizeof malformed / sizeof *malformed;
    struct arena arena;
    struct tally tally;
    char id[32], document[128];
    pid_t before[4], after[4];

    if (!arena_enter(&arena, NULL, "workers = 2;"))
        return;
    arena_workers(&arena, 0, before, 4);
    for (unsigned i = 0; i < BAD; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int len = snprintf(document, sizeof document - 12, malformed[i % kinds], i);
#pragma GCC diagnostic pop

        snprintf(id, sizeof id, "fine-%u", i);
        snprintf(document + len, 12, " %u", i); /* equal bytes would be one job */
        arena_do(&arena, "ZADD later:{default}:ready 1 %s", document);
        arena_push(&arena, id, "trace", "ok");
    }
    tap_ok(arena_drained(&arena, 15), "500 malformed documents and 500 good ones are over");
    if (arena_tally(&arena, &tally) == 0) {
        tap_ok(tally.dead == BAD, "%zu are dead", tally.dead);
        tap_ok(arena_ask(&arena, "HLEN later:{default}:records") == BAD, "each with its reason");
        tap_ok(tally.done == BAD && tally.run_count == BAD, "the good ones ran once");
        tap_ok(tally.lost == 0 && tally.unexpected == 0 && tally.conserved, "nothing is lost");
        tally_free(&tally);
    }
    arena_workers(&arena, 0, after, 4);
    tap_ok(before[0] == after[0] && before[1] == after[1], "no worker was restarted");
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
}

int main(void)
{
    test_events();
    test_nasty();
    test_malformed();
    return tap_end();
}
