/*
 * test_cron.c: schedules of every second on three laterds whose clocks are two seconds behind,
 * right, and two seconds ahead, while they are killed, stopped and reloaded by chance. One schedule
 * is of their configuration, one is set by hand and edited twice. Each tick is pushed once, no job
 * of one begins early, none is missing, and an edit holds from its moment.
 *
 * What a run of ours must be is written down as if it had been pushed by us, so that the tally
 * compares: a tick that must be there, or, while an edit is on its way, may.
 */
#include "arena.h"
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKEW 2000000 /* microseconds */

static const char options[] =
    "workers = 1; lease = 5.0; crash_max = 1000; retry = { base = 0.0; };"
    "cron = ( { name = \"conf\"; every = 1; type = \"trace\"; payload = \"\\\"ok\\\"\"; } );";

/* What the schedule set by hand was: from some moment in these two seconds on. */
struct definition {
    const char *at, *payload; /* NULL: it is paused */
    long every, rest;         /* its ticks: those with this rest */
    double before, after;     /* of Redis's clock */
};

static struct definition all[] = {
    { .at = "* * * * * *", .payload = "ok", .every = 1 },
    { .at = "1-59/2 * * * * *", .payload = "fail", .every = 2, .rest = 1 },
    { .at = "@every 1", .payload = "sleep 10", .every = 1 },
    { .at = NULL },
};

static struct arena arena;

/* Redis's clock. */
static double present(void)
{
    redisContext *redis = arena_redis(&arena);
    redisReply *reply = redis ? redisCommand(redis, "TIME") : NULL;
    double now = 0;

    if (reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        now = strtod(reply->element[0]->str, NULL) + strtod(reply->element[1]->str, NULL) / 1e6;
    freeReplyObject(reply);
    return now;
}

/* Redis's clock is so much before CLOCK_MONOTONIC: asked again if the answer took long. */
static double clock_offset(void)
{
    double best = INFINITY, offset = 0;

    for (int i = 0; i < 50 && best > 0.001; i++) {
        double before = arena_now(), now = present(), took = arena_now() - before;

        if (took >= best)
            continue;
        best = took;
        offset = now - before - took / 2;
    }
    return offset;
}

/* --- hosts --- */

static int start_host(int n)
{
    static char shim[300];
    const char *top = getenv("top_builddir");
    const int64_t shift = (int64_t)(n - 1) * SKEW;
    char path[128];
    FILE *file;

    snprintf(shim, sizeof shim, "%s/tests/support/clock_shim.so", top ? top : ".");
    snprintf(path, sizeof path, "%s/shift%d", arena.folder, n);
    file = fopen(path, "we");
    if (!file || fwrite(&shift, sizeof shift, 1, file) != 1 || fclose(file) != 0)
        return -1;
    setenv("CLOCK_SHIFT", path, 1);
    arena.preload = shim;
    return arena_start(&arena, n, options);
}

/* Supervisor and workers, in the same moment. */
static void signal_host(int n, int sig)
{
    pid_t workers[16];
    size_t count = arena_workers(&arena, n, workers, 16);

    kill(arena.hosts[n].pid, sig);
    for (size_t i = 0; i < count; i++)
        kill(workers[i], sig);
}

static void stop_for(int n, double seconds)
{
    double start = arena_now();

    signal_host(n, SIGSTOP);
    arena_sleep(seconds);
    signal_host(n, SIGCONT);
    arena_sleep(0.2);
    arena_fault(&arena, start, "stopped");
}

static bool kill_host(int n)
{
    double start = arena_now();

    arena_kill(&arena, n, arena_random(2));
    arena_sleep(0.001 * arena_random(1500));
    if (start_host(n) < 0)
        return tap_ok(false, "laterd %d comes back", n);
    arena_fault(&arena, start, "killed");
    return true;
}

/* Random faults. Returns false if a laterd is gone for good. */
static bool trouble(double seconds)
{
    double until = arena_now() + seconds;
    unsigned count[3] = { 0 };

    while (arena_now() < until) {
        int n = (int)arena_random(3);
        unsigned what = arena_random(3);

        count[what]++;
        if (!arena_alive(&arena, n))
            return tap_ok(false, "laterd %d is there", n);
        if (what == 0 && !kill_host(n))
            return false;
        if (what == 1)
            stop_for(n, 0.001 * (500 + arena_random(3000)));
        if (what == 2 && arena_reload(&arena, n, options) < 0)
            return tap_ok(false, "a reload of laterd %d", n);
        arena_sleep(0.001 * arena_random(500));
    }
    tap_note("killed %u, stopped %u, reloaded %u times", count[0], count[1], count[2]);
    return true;
}

/* --- the schedule set by hand --- */

/* Until nothing that has come is still to be fired. Returns when that was so, or 0. */
static double all_fired(void)
{
    double until = arena_until(20);

    while (arena_now() < until) {
        double now = present();

        if (arena_ask(&arena, "ZCOUNT later:{default}:cron -inf %.0f", floor(now)) == 0)
            return now;
        arena_sleep(0.02);
    }
    return 0;
}

static bool edit(struct definition *to)
{
    const char *top = getenv("top_builddir");
    char command[500];
    bool done;

    if (to->at)
        snprintf(command, sizeof command,
                 "%s/cli/later --redis %s cron set hand '%s' trace '\"%s\"' >/dev/null",
                 top ? top : ".", arena.url, to->at, to->payload);
    else
        snprintf(
            command, sizeof command,
            "%s/cli/later --redis %s cron pause hand && %s/cli/later --redis %s cron pause conf",
            top ? top : ".", arena.url, top ? top : ".", arena.url);
    /* A tick that comes after that may be fired or not when it is paused. */
    to->before = all_fired();
    if (to->before <= 0)
        return tap_ok(false, "what has come is fired");
    done = system(command) == 0; /* NOLINT: a test's own words */
    to->after = present();
    return tap_ok(done, "%s", to->at ? to->at : "paused");
}

/* --- what must have run --- */

static bool is_tick(const struct definition *of, long second)
{
    return of->at && second % of->every == of->rest;
}

/* By the definition of the moment: 'o' it must be there, 'm' it may, '-' it must not. */
static char wanted(const struct definition *list, size_t count, long second)
{
    for (size_t i = 0; i < count; i++) {
        const struct definition *was = i ? &list[i - 1] : NULL, *is = &list[i];
        bool old = was && is_tick(was, second), new = is_tick(is, second);

        if ((double)second <= is->before)
            return old ? 'o' : '-';
        if ((double)second <= is->after && old != new)
            return 'm';
        if ((double)second <= is->after)
            return new ? 'o' : '-';
    }
    return '-';
}

/* offset: of Redis's clock from CLOCK_MONOTONIC. */
static void write_wanted(const char *name, const struct definition *list, size_t count,
                         double offset)
{
    FILE *file = fopen(arena.pushed, "ae");

    for (long second = (long)list[0].before; file && second <= (long)list[count - 1].after;
         second++) {
        char what = wanted(list, count, second);

        if (what != '-')
            fprintf(file, "%s cron:%s:%ld %.6f\n", what == 'o' ? "ok" : "maybe", name, second,
                    (double)second - offset);
    }
    if (file)
        fclose(file);
}

/* A first attempt fails under the middle definition, and under no other. */
static void judge_documents(const struct tally *tally, const struct definition *middle,
                            const struct definition *last)
{
    size_t failed = 0, wrong = 0;

    for (size_t i = 0; i < tally->run_count; i++) {
        const struct run *run = &tally->runs[i];
        bool retry = strcmp(run->result, "retry") == 0;
        double second = 0;

        if (sscanf(run->id, "cron:hand:%lf", &second) != 1 || run->attempt != 1 || !run->result[0])
            continue;
        failed += retry;
        if (retry ? second <= middle->before - 1 || second > last->after
                  : second > middle->after && second <= last->before - 1)
            wrong++;
    }
    tap_ok(wrong == 0, "its document, too: %zu runs by the second one, %zu by a wrong one", failed,
           wrong);
}

static void judge(const struct definition *first, double offset)
{
    const struct definition conf[2] = { *first, all[3] };
    double drift = fabs(clock_offset() - offset);
    struct tally tally;

    tap_ok(drift < 0.5, "nobody has set the clock");
    write_wanted("hand", all, 4, offset + drift + 0.001);
    write_wanted("conf", conf, 2, offset + drift + 0.001);
    if (!tap_ok(arena_tally(&arena, &tally) == 0, "the tally"))
        return;
    tap_ok(tally.acked > 4 && tally.lost == 0, "%zu ticks: %zu are missing", tally.acked,
           tally.lost);
    tap_ok(tally.unexpected == 0, "%zu that no definition of their moment has", tally.unexpected);
    tap_ok(tally.early == 0, "%zu early", tally.early);
    tap_ok(arena_ask(&arena, "HGET later:{default}:stats pushed") ==
               (long long)(tally.acked + tally.recovered),
           "each was pushed once");
    tap_ok(tally.unexplained == 0, "%zu run twice without a fault", tally.unexplained);
    tap_ok(tally.dead == 0 && tally.conserved, "none dead, the counters add up");
    judge_documents(&tally, &all[1], &all[2]);
    tally_free(&tally);
}

/* --- the whole --- */

static bool is_shifted(int n)
{
    char path[64], line[400];
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)arena.hosts[n].pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        found = found || strstr(line, "/shift");
    if (file)
        fclose(file);
    return found;
}

/* conf: the schedule of the configuration. */
static bool begin(struct definition *conf)
{
    bool shifted = true;

    if (arena_open(&arena, NULL) < 0)
        return tap_ok(false, "an arena");
    conf->before = present();
    for (int n = 0; n < 3; n++) {
        if (start_host(n) < 0)
            return tap_ok(false, "laterd %d", n);
        shifted = shifted && is_shifted(n);
    }
    while (arena_ask(&arena, "HEXISTS later:{default}:crontab conf") == 0)
        arena_sleep(0.01);
    conf->after = present();
    return tap_ok(shifted, "three laterds, two of them with a clock that is wrong");
}

int main(void)
{
    struct definition conf = { .at = "@every 1", .every = 1 };
    double seconds = tap_long() ? 600 : 9, offset;
    bool fine;

    srandom(14);
    fine = begin(&conf);
    offset = fine ? clock_offset() : 0;
    for (int i = 0; fine && i < 3; i++)
        fine = edit(&all[i]) && trouble(seconds / 3);
    if (fine && edit(&all[3]) && tap_ok(arena_drained(&arena, 20), "all jobs are over"))
        judge(&conf, offset);
    for (int n = 0; fine && n < 3; n++)
        tap_ok(arena_stop(&arena, n) == 0, "laterd %d stops", n);
    arena_close(&arena);
    return tap_end();
}
