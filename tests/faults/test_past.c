/*
 * test_past.c: a Redis that comes back from the past: after a power cut its append-only file ends
 * where it was last on the disk (fsync_shim.c); or it was restored from a snapshot.
 *
 * What was pushed and answered behind that point is gone, as the manual says. All else must be
 * performed, no result of before may change a job that runs again, and the counters add up.
 */
#include "arena.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOBS_MAX 4000

static double answered[JOBS_MAX]; /* when the push of "past-N" was; 0: it was not */

/* shim: preloaded to Redis alone, or NULL. */
static bool enter(struct arena *arena, const char *redis, const char *shim)
{
    bool open;

    memset(answered, 0, sizeof answered);
    if (shim)
        setenv("LD_PRELOAD", shim, 1);
    open = arena_open(arena, redis) == 0;
    unsetenv("LD_PRELOAD");
    if (open && arena_start(arena, 0, "workers = 3; lease = 4.5; crash_max = 100;") == 0)
        return true;
    tap_ok(false, "an arena");
    arena_close(arena);
    return false;
}

/* Pushes jobs from `first` on, about 100 per second, and at least 40 for each. Returns the number
 * after the last. */
static size_t push(struct arena *arena, size_t first, double seconds)
{
    size_t i = first, least = first + (size_t)(40 * seconds);
    double start = arena_now();

    for (; i < JOBS_MAX && (i < least || arena_now() < start + seconds); i++) {
        char id[32];

        snprintf(id, sizeof id, "past-%zu", i);
        if (arena_push(arena, id, "trace", i % 10 ? "sleep 5" : "sleep 200") == 0)
            answered[i] = arena_now();
        arena_sleep(0.01);
    }
    return i;
}

static bool ran(const struct tally *tally, size_t i)
{
    const struct run *run;
    char id[32];

    snprintf(id, sizeof id, "past-%zu", i);
    for (run = tally_first(tally, id); run; run = tally_next(tally, run)) {
        if (strcmp(run->result, "ok") == 0)
            return true;
    }
    return false;
}

/* Jobs of these numbers that were answered before `when`, and those of them that never ran. */
static size_t missing(const struct tally *tally, size_t count, double when, size_t *of)
{
    size_t none = 0;

    *of = 0;
    for (size_t i = 0; i < count; i++) {
        if (answered[i] <= 0 || answered[i] > when)
            continue;
        ++*of;
        none += !ran(tally, i);
    }
    return none;
}

/* kept: what was answered before then must have run. */
static void judge(struct arena *arena, const char *what, size_t count, double kept)
{
    struct tally tally;
    size_t of, none;

    tap_ok(arena_alive(arena, 0), "%s: laterd is alive", what);
    tap_ok(arena_drained(arena, 15), "%s: all jobs are over", what);
    if (arena_tally(arena, &tally) == 0) {
        none = missing(&tally, count, kept, &of);
        tap_ok(none == 0 && of > 50, "%s: of %zu jobs that it must know, %zu are lost", what, of,
               none);
        tap_ok(tally.unexpected == 0 && tally.dead == 0, "%s: none unexpected, none dead", what);
        tap_ok(tally.unexplained == 0, "%s: %zu ran twice, each because of it", what,
               tally.duplicated);
        tap_ok(tally.conserved, "%s: the counters add up", what);
        tally_free(&tally);
    }
    tap_ok(arena_stop(arena, 0) == 0, "%s: laterd stops", what);
    arena_close(arena);
}

/* --- power --- */

/* Returns the end of the sync before the last one, or 0. With everysec Redis may answer before it
 * writes, while a sync is under way. So what was answered before then was on the disk at the end of
 * the last one. */
static double surely_synced(const char *log)
{
    FILE *file = fopen(log, "re");
    double before = 0, last = 0, at;

    while (file && fscanf(file, "%*s %*d %lf", &at) == 1) {
        before = last;
        last = at;
    }
    if (file)
        fclose(file);
    return before;
}

/* Cuts each file to the size that it last had on the disk. Returns how many bytes were cut, or -1
 * if the shim has noted nothing. */
static long long forget_unsynced(const char *log)
{
    struct {
        char path[512];
        long long size;
    } files[16], line;
    size_t count = 0, i;
    long long gone = -1;
    FILE *file = fopen(log, "re");

    while (file && fscanf(file, "%511s %lld %*f", line.path, &line.size) == 2) {
        for (i = 0; i < count && strcmp(files[i].path, line.path) != 0;)
            i++;
        if (i == count && count < sizeof files / sizeof *files)
            strcpy(files[count++].path, line.path);
        if (i < count)
            files[i].size = line.size;
    }
    if (file)
        fclose(file);
    for (i = 0; i < count; i++) {
        struct stat status;

        if (stat(files[i].path, &status) < 0 || truncate(files[i].path, files[i].size) < 0)
            continue; /* a rewrite has removed it */
        gone = (gone < 0 ? 0 : gone) + status.st_size - files[i].size;
    }
    return gone;
}

static bool again_with_shim(struct arena *arena, const char *shim)
{
    bool good;

    setenv("LD_PRELOAD", shim, 1);
    good = server_again(&arena->redis) == 0;
    unsetenv("LD_PRELOAD");
    return good;
}

/* late: an answer may come before what it tells of is on the disk. How long before is Redis's
 * affair: two seconds, or more on a busy machine. */
static void test_power(const char *policy, bool late)
{
    const char *top = getenv("top_builddir");
    char options[80], shim[300], log[64], what[64];
    struct arena arena;
    long long gone;
    double start, cut, kept;
    size_t count;

    snprintf(options, sizeof options, "appendonly yes\nappendfsync %s\n", policy);
    snprintf(shim, sizeof shim, "%s/tests/faults/fsync_shim.so", top ? top : ".");
    snprintf(log, sizeof log, "/tmp/later-fsync-%d", (int)getpid());
    snprintf(what, sizeof what, "power cut, appendfsync %s", policy);
    setenv("FSYNC_LOG", log, 1);
    if (!enter(&arena, options, shim))
        return;
    start = arena_now();
    count = push(&arena, 0, 4);
    for (int i = 0; late && i < 30 && surely_synced(log) < start + 1.5; i++)
        count = push(&arena, count, 1);
    cut = arena_now();
    server_end(&arena.redis, SIGKILL);
    gone = forget_unsynced(log);
    kept = late ? surely_synced(log) : cut;
    tap_ok(gone >= 0, "%s: %lld bytes had not reached the disk", what, gone);
    if (!tap_ok(again_with_shim(&arena, shim), "%s: Redis starts with what was on the disk", what))
        return;
    /* What ran in the lost seconds runs again. */
    arena_fault(&arena, kept, what);
    count = push(&arena, count, 1);
    judge(&arena, what, count, kept);
    unlink(log);
    unsetenv("FSYNC_LOG");
}

/* --- a snapshot --- */

static void test_rollback(void)
{
    struct arena arena;
    double saved, cut;
    size_t count;

    if (!enter(&arena, NULL, NULL))
        return;
    count = push(&arena, 0, 2);
    saved = arena_now();
    tap_ok(arena_do(&arena, "SAVE"), "a snapshot");
    count = push(&arena, count, 3);
    cut = arena_now();
    server_end(&arena.redis, SIGKILL);
    tap_ok(server_again(&arena.redis) == 0, "Redis comes back as it was %.1f s ago", cut - saved);
    arena_fault(&arena, saved, "a Redis of the past");
    count = push(&arena, count, 1);
    judge(&arena, "rollback", count, saved);
}

int main(void)
{
    test_power("always", false);
    test_power("everysec", true);
    test_rollback();
    return tap_end();
}
