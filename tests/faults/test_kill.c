/* test_kill.c: kill -9 of workers and of whole laterds. */
#include "arena.h"
#include "tap.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KILLS_MAX 1000
#define JOBS      1000 /* in a round, at least */

struct victim {
    pid_t pid;
    double when;
};

static struct victim victims[KILLS_MAX];

/* The id that a worker was running when it was killed, or NULL. */
static const struct run *interrupted(const struct tally *tally, const struct victim *victim)
{
    for (size_t i = 0; i < tally->run_count; i++) {
        const struct run *run = &tally->runs[i];

        if (run->pid == victim->pid && !run->result[0] && run->start < victim->when)
            return run;
    }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* How soon the jobs that ran in killed workers were begun again. */
struct latency {
    size_t count;
    double median, most;
};

static struct latency latency_of(const struct tally *tally, size_t kills)
{
    double waits[KILLS_MAX] = { 0 };
    size_t count = 0;

    for (size_t i = 0; i < kills; i++) {
        const struct run *run = interrupted(tally, &victims[i]);
        const struct run *next = run ? tally_next(tally, run) : NULL;

        if (next && run->attempt == 1) /* the second crash of a job has a backoff */
            waits[count++] = next->start - victims[i].when;
    }
    qsort(waits, count, sizeof *waits, by_number);
    tap_note("%zu kills, %zu of them with a job in its first attempt, begun again after %.1f ms "
             "(median), %.0f ms at most",
             kills, count, waits[count / 2] * 1000, waits[count ? count - 1 : 0] * 1000);
    return (struct latency){ count, waits[count / 2], waits[count ? count - 1 : 0] };
}

static size_t count_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t count = 0;
    int c;

    while (file && (c = getc(file)) != EOF)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

/* For so many seconds, and longer on a machine on which there are few jobs by then. */
static size_t kill_workers(struct arena *arena, double seconds)
{
    double start = arena_now();
    size_t kills = 0;

    while ((arena_now() < start + seconds || count_lines(arena->pushed) <= JOBS) &&
           kills < KILLS_MAX) {
        pid_t pids[16];
        size_t count;

        arena_sleep(start + 0.2 * (double)(kills + 1) - arena_now());
        count = arena_workers(arena, 0, pids, 16);
        if (!count)
            continue;
        victims[kills].pid = pids[arena_random((unsigned)count)];
        victims[kills].when = arena_now();
        kill(victims[kills].pid, SIGKILL);
        arena_fault(arena, victims[kills].when, "kill -9 of a worker");
        kills++;
    }
    return kills;
}

/* One round. What must not happen must not happen in any of them. */
static bool kill_for(double seconds, struct latency *latency)
{
    const struct produce load = {
        .prefix = "k", .seed = 1, .burst = 20, .slow_ms = 30, .rate = 220, .seconds = 1e6
    };
    struct arena arena;
    struct tally tally;
    size_t kills;
    pid_t producer;

    if (arena_open(&arena, NULL) < 0 ||
        arena_start(&arena, 0, "workers = 4; lease = 9.0; crash_max = 20;") < 0) {
        arena_close(&arena);
        return tap_ok(false, "an arena");
    }
    producer = arena_produce(&arena, &load);
    kills = kill_workers(&arena, seconds);
    kill(producer, SIGTERM);
    arena_produced(producer);
    tap_ok(arena_drained(&arena, 10), "after kill -9 of a worker every 200 ms all jobs are over");
    if (arena_tally(&arena, &tally) == 0) {
        tap_ok(tally.acked >= JOBS, "%zu jobs", tally.acked);
        tap_ok(tally.lost == 0 && tally.unexpected == 0, "lost %zu, unexpected %zu", tally.lost,
               tally.unexpected);
        tap_ok(tally.duplicated <= kills && tally.unexplained == 0,
               "%zu runs more than jobs, for %zu kills", tally.duplicated, kills);
        /* One may be killed after it is marked as running, before its handler's first line. */
        tap_ok(tally.charged <= kills / 20, "held jobs keep their attempts (%zu charged)",
               tally.charged);
        tap_ok(tally.dead == 0 && tally.conserved, "none dead, the counters add up");
        *latency = latency_of(&tally, kills);
        tally_free(&tally);
    }
    tap_ok(arena_stop(&arena, 0) == 0, "laterd stops");
    arena_close(&arena);
    return latency->count > kills / 10;
}

static bool is_quick(const struct latency *latency, double busy)
{
    return latency->median <= 0.050 * busy && latency->most <= busy;
}

/* "Begun again" means reserved by another worker. On a busy machine that takes longer, so the best
 * of three rounds counts. */
static void test_workers(void)
{
    double seconds = tap_long() ? 30 : 10;
    struct latency best = { 0, INFINITY, INFINITY };
    double busy = 1;

    srandom(1);
    for (int i = 0; i < 3 && !is_quick(&best, busy); i++) {
        struct latency latency = { 0, INFINITY, INFINITY };
        bool enough = kill_for(seconds, &latency);

        busy = arena_busy();
        if (enough && (is_quick(&latency, busy) || latency.median < best.median))
            best = latency;
    }
    tap_ok(best.median <= 0.050 * busy,
           "killed jobs begin again after %.1f ms (median; at most %.0f)", best.median * 1000,
           50 * busy);
    tap_ok(best.most <= busy, "at the latest after %.0f ms (at most %.0f)", best.most * 1000,
           1000 * busy);
}

/* The first two keep the two workers until they are told to end, however late everything dies. */
static void push_of_all(struct arena *arena, int i)
{
    char id[16], line[32];

    snprintf(id, sizeof id, "all-%d", i);
    snprintf(line, sizeof line, "B %s ", id);
    arena_push(arena, id, "trace", i < 2 ? "stay" : "sleep 1");
    if (i < 2)
        tap_ok(arena_seen(arena, line, 1, 5) > 0, "job %d runs", i);
}

/* Everything dies; the next laterd on the host knows from the slot pages what was held. */
static void test_everything(void)
{
    struct arena arena;
    struct tally tally;
    char line[32];
    double start, last = 0;

    if (arena_open(&arena, NULL) < 0 || arena_start(&arena, 0, "workers = 2; lease = 60.0;") < 0) {
        tap_ok(false, "an arena");
        arena_close(&arena);
        return;
    }
    for (int i = 0; i < 20; i++)
        push_of_all(&arena, i);
    start = arena_now();
    arena_kill(&arena, 0, true);
    arena_fault(&arena, start, "kill -9 of everything");
    tap_ok(arena_ask(&arena, "ZCARD later:{default}:reserved") >= 2, "its jobs are still reserved");
    start = arena_now();
    arena_again(&arena, 0);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "B all-%d ", i);
        last = arena_seen(&arena, line, 2, 10);
        tap_ok(last > 0 && arena_soon(last - start, 1),
               "job %d begins again %.0f ms after the next start", i, (last - start) * 1000);
    }
    arena_go(&arena);
    tap_ok(arena_drained(&arena, 10), "all jobs are over");
    if (arena_tally(&arena, &tally) == 0) {
        tap_ok(tally.lost == 0 && tally.unexpected == 0 && tally.done == 20 && tally.conserved,
               "nothing is lost");
        tap_ok(tally.duplicated == 2, "%zu runs again (those that ran)", tally.duplicated);
        tap_ok(tally.charged == 0, "held jobs keep their attempts");
        tally_free(&tally);
    }
    arena_stop(&arena, 0);
    arena_close(&arena);
}

/* A dead process that was not waited for does not count as a process. */
static bool runs(pid_t pid)
{
    char path[64], line[200] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    return line[0] && !strstr(line, ") Z ");
}

static size_t alive(const pid_t *pids, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++)
        left += runs(pids[i]);
    return left;
}

static void test_supervisor(void)
{
    struct arena arena;
    pid_t pids[8];
    size_t count;
    double until;

    if (arena_open(&arena, NULL) < 0 || arena_start(&arena, 0, "workers = 3;") < 0) {
        tap_ok(false, "an arena");
        arena_close(&arena);
        return;
    }
    count = arena_workers(&arena, 0, pids, 8);
    tap_ok(count == 3, "three workers");
    arena_push(&arena, "stuck", "trace", "hang");
    arena_seen(&arena, "B stuck ", 1, 5);
    arena_kill(&arena, 0, false);
    until = arena_until(1);
    while (arena_now() < until && alive(pids, count))
        arena_sleep(0.01);
    tap_ok(alive(pids, count) == 0, "after their supervisor no worker is there");
    arena_close(&arena);
}

int main(void)
{
    test_workers();
    test_everything();
    test_supervisor();
    return tap_end();
}
