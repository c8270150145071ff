/*
 * test_permits.c: max_running, limits and locks of jobs on two laterds, with workers killed.
 *
 * Safety is read from the trace and holds for every run. The second within which a killed worker's
 * place is free again is a figure of latency: the best of three rounds counts, for the machine may
 * be busy.
 */
#include "arena.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOSTS     2
#define RUNS_MAX  4000
#define KILLS_MAX 100

/* A run in the trace; end: its E line, or the moment before its worker was killed, or 0. */
struct run_seen {
    char id[40];
    unsigned attempt;
    pid_t pid;
    double start, end;
};

static struct run_seen runs[RUNS_MAX];
static size_t run_count;
static struct {
    pid_t pid;
    double at;
} kills[KILLS_MAX];
static size_t kill_count;

static void note_end(const char *id, pid_t pid, double start, double end)
{
    for (size_t i = 0; i < run_count; i++) {
        if (runs[i].pid == pid && runs[i].start == start && strcmp(runs[i].id, id) == 0)
            runs[i].end = end;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct run_seen *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static void read_trace(const struct arena *arena)
{
    FILE *file = fopen(arena->trace, "re");
    char line[500], id[40], token[40], result[20];
    double start, end;
    unsigned attempt;
    int pid;

    run_count = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "B %39s %u %39s %lf %d", id, &attempt, token, &start, &pid) == 5 &&
            run_count < RUNS_MAX) {
            runs[run_count] = (struct run_seen){ .attempt = attempt, .pid = pid, .start = start };
            strcpy(runs[run_count++].id, id);
        } else if (sscanf(line, "E %39s %u %39s %lf %lf %19s %d", id, &attempt, token, &start, &end,
                          result, &pid) == 7) {
            note_end(id, pid, start, end);
        }
    }
    if (file)
        fclose(file);
    for (size_t i = 0; i < run_count; i++) {
        for (size_t k = 0; k < kill_count && runs[i].end <= 0; k++)
            runs[i].end = kills[k].pid == runs[i].pid ? kills[k].at : 0;
    }
    qsort(runs, run_count, sizeof *runs, by_start);
}

/* How many ran at once, at most. */
static size_t most_at_once(void)
{
    size_t most = 0;

    for (size_t i = 0; i < run_count; i++) {
        size_t beside = 0;

        for (size_t k = 0; k <= i; k++)
            beside += k == i || runs[k].end <= 0 || runs[k].end > runs[i].start;
        most = beside > most ? beside : most;
    }
    return most;
}

static bool enter(struct arena *arena, const char *options)
{
    kill_count = 0;
    if (arena_open(arena, NULL) == 0 && arena_start(arena, 0, options) == 0 &&
        arena_start(arena, 1, options) == 0)
        return true;
    tap_ok(false, "an arena of two laterds");
    arena_close(arena);
    return false;
}

/* Kills a worker of either laterd that is running a job now. Returns whether there was one. */
static bool kill_a_runner(struct arena *arena)
{
    read_trace(arena);
    for (size_t i = run_count; i-- > 0 && kill_count < KILLS_MAX;) {
        if (runs[i].end > 0)
            continue;
        kills[kill_count].pid = runs[i].pid;
        kills[kill_count++].at = arena_now();
        kill(runs[i].pid, SIGKILL);
        return true;
    }
    return false;
}

/* The last job is settled; its permit or lock is freed right after that. */
static bool nothing_held(struct arena *arena)
{
    double until = arena_until(20);
    long long held;

    do {
        held = arena_ask(arena, "ZCARD later:running:{type:trace}") +
               arena_ask(arena, "HEXISTS later:lock:{type:trace} token");
        if (held == 0)
            return true;
        arena_sleep(0.02);
    } while (arena_now() < until);
    return false;
}

/* So many run at once, until all of them do. */
static void fill_places(struct arena *arena, size_t most)
{
    char id[20], line[30];

    for (size_t i = 0; i < most; i++) {
        snprintf(id, sizeof id, "first%zu", i);
        arena_push(arena, id, "trace", "stay");
    }
    for (size_t i = 0; i < most; i++) {
        snprintf(line, sizeof line, "B first%zu ", i);
        arena_seen(arena, line, 1, 10);
    }
    arena_go(arena);
}

/* There are never more than two at once, whoever is killed. The lease is long, since who stands
 * still for as long loses his place. */
static void at_once(const char *options, const char *what, size_t most, unsigned jobs)
{
    struct arena arena;
    char id[20];
    size_t seen;

    if (!enter(&arena, options))
        return;
    fill_places(&arena, most);
    for (unsigned i = 0; i < jobs; i++) {
        snprintf(id, sizeof id, "j%u", i);
        arena_push(&arena, id, "trace", "sleep 60");
    }
    for (int i = 0; i < (tap_long() ? 60 : 6); i++) {
        arena_sleep(0.2);
        kill_a_runner(&arena);
    }
    tap_ok(arena_drained(&arena, 60), "%s: all jobs end, %zu workers were killed", what,
           kill_count);
    read_trace(&arena);
    seen = most_at_once();
    tap_ok(run_count >= jobs && seen <= most, "%s: at most %zu ran at once, of %zu runs", what,
           seen, run_count);
    tap_ok(seen == most, "%s: and so many did", what);
    tap_ok(nothing_held(&arena), "%s: nothing is held in the end", what);
    arena_close(&arena);
}

/* --- waiting stays short --- */

/* Pushes `jobs` of 5 ms within `seconds`, at random times, and beside them others that need
 * nothing. */
static void push_by_chance(struct arena *arena, unsigned jobs, double seconds)
{
    double start = arena_now(), at = 0;
    char id[20];

    for (unsigned i = 0; i < jobs; i++) {
        at += 2 * seconds / jobs * (double)arena_random(1000) / 1000;
        if (start + at > arena_now())
            arena_sleep(start + at - arena_now());
        snprintf(id, sizeof id, "s%u", i);
        arena_push(arena, id, "trace", "sleep 5");
        if (arena_random(4) == 0) {
            snprintf(id, sizeof id, "o%u", i);
            arena_push(arena, id, "trace.other", "ok");
        }
    }
}

static double last_end(void)
{
    double last = 0;

    for (size_t i = 0; i < run_count; i++)
        last = runs[i].end > last ? runs[i].end : last;
    return last;
}

/* Leaves in `runs` those whose id begins with this letter. */
static void keep(char letter)
{
    size_t kept = 0;

    for (size_t i = 0; i < run_count; i++) {
        if (runs[i].id[0] == letter)
            runs[kept++] = runs[i];
    }
    run_count = kept;
}

/* What waits for a lock, a permit, a limit runs as soon as there is room: all is done, from the
 * last push, within one and a half times the time that the work itself needs, and a second; longer
 * on a busy machine. `need`: those seconds for each job. */
static void waits_short(const char *options, const char *what, size_t most, double need,
                        unsigned seed)
{
    unsigned jobs = tap_long() ? 1500 : 400;
    double pushed, took, bound = need * jobs * 1.5 + 1;
    struct arena arena;
    char all[400];

    srandom(seed);
    kill_count = 0;
    snprintf(all, sizeof all, "workers = 3;\n%s", options);
    if (arena_open(&arena, NULL) < 0 || arena_start(&arena, 0, all) < 0) {
        tap_ok(false, "%s: an arena", what);
        return;
    }
    push_by_chance(&arena, jobs, jobs / 100.0);
    pushed = arena_now();
    tap_ok(arena_drained(&arena, 120), "%s, seed %u: all jobs end", what, seed);
    read_trace(&arena);
    keep('s');
    took = last_end() - pushed;
    tap_ok(run_count == jobs, "%s: each ran once, %zu runs", what, run_count);
    tap_ok(arena_soon(took, bound),
           "%s: the last %.3f s after the last push, %.1f and a busy machine's", what, took, bound);
    if (most)
        tap_ok(most_at_once() <= most, "%s: at most %zu at once", what, most);
    arena_close(&arena);
}

static void test_short(void)
{
    for (unsigned seed = 1; seed <= (tap_long() ? 10 : 1); seed++) {
        waits_short("types = ( { name = \"trace\"; exclusive = \"type\"; } );", "exclusive", 1,
                    0.005, seed);
        waits_short("types = ( { name = \"trace\"; max_running = 1; } );", "max_running = 1", 1,
                    0.005, seed);
        waits_short("types = ( { name = \"trace\"; max_running = 2; } );", "max_running = 2", 2,
                    0.0025, seed);
        waits_short("limits = ( { type = \"trace\"; max = 8; per = 0.1; window = \"sliding\"; } );",
                    "8 in 0.1 s", 0, 0.0125, seed);
    }
}

/* From the death of a place's holder to the next begin. */
static double hand_over(struct arena *arena, int round)
{
    char id[20], line[30];
    double killed, next;

    snprintf(id, sizeof id, "k%d", round);
    snprintf(line, sizeof line, "B %s ", id);
    arena_push(arena, id, "trace", "sleep 3000");
    if (arena_seen(arena, line, 1, 10) <= 0 || !kill_a_runner(arena))
        return 99;
    killed = kills[kill_count - 1].at;
    next = arena_seen(arena, line, 2, 10); /* its first crash: again at once, if there is a place */
    arena_drained(arena, 20);
    return next > 0 ? next - killed : 99;
}

static void test_hand_over(void)
{
    struct arena arena;
    double best = 99;

    if (!enter(&arena, "workers = 1; lease = 30.0; crash_max = 100;\n"
                       "types = ( { name = \"trace\"; max_running = 1; } );"))
        return;
    for (int round = 0; round < 3 && best > 1; round++) {
        double took = hand_over(&arena, round);

        best = took < best ? took : best;
    }
    tap_ok(arena_soon(best, 1),
           "the place of a killed worker is free again after %.3f s (lease 30)", best);
    arena_close(&arena);
}

/* How many jobs have an attempt in their records? Those that wait say in which line. */
static long long attempts_noted(struct arena *arena)
{
    static const char script[] =
        "local n = 0 for _, text in ipairs(redis.call('HVALS', KEYS[1])) do "
        "if string.find('\\n' .. text, '\\na=') then n = n + 1 end end return n";

    return arena_ask(arena, "EVAL %s 1 later:{default}:records", script);
}

/* Seconds of processor time of a process and its children that were waited for. */
static double cpu_of(pid_t pid)
{
    char path[40], line[1000] = "";
    unsigned long user = 0, system = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file) && strrchr(line, ')'))
        sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &system);
    if (file)
        fclose(file);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double cpu_of_all(const struct arena *arena)
{
    double sum = cpu_of(arena->redis.pid);

    for (int n = 0; n < HOSTS; n++) {
        pid_t pids[16];
        size_t count = arena_workers(arena, n, pids, 16);

        sum += cpu_of(arena->hosts[n].pid);
        for (size_t i = 0; i < count; i++)
            sum += cpu_of(pids[i]);
    }
    return sum;
}

/* Waits until each has been looked at once: none is ready any more. */
static void wait_all_looked_at(struct arena *arena)
{
    double until = arena_until(60);

    while (arena_now() < until && arena_ask(arena, "ZCARD later:{default}:ready") != 0)
        arena_sleep(0.05);
    arena_sleep(1);
}

/* What it costs that 1,000 jobs wait, after they have been looked at once. */
static double cost_of_waiting(struct arena *arena, double seconds)
{
    double before, start;

    wait_all_looked_at(arena);
    before = cpu_of_all(arena);
    start = arena_now();
    arena_sleep(seconds);
    return (cpu_of_all(arena) - before) / (arena_now() - start);
}

static void push_thousand(struct arena *arena, const char *type, const char *payload)
{
    char id[20];

    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "w%d", i);
        arena_push(arena, id, type, payload);
    }
}

static void test_limit(void)
{
    double per = tap_long() ? 10 : 2, start = arena_now(), most, cost;
    struct arena arena;
    char options[200];
    size_t wrong = 0;

    snprintf(options, sizeof options,
             "workers = 2; limits = ( { type = \"trace\"; max = 3; per = %.1f; } );", per);
    if (!enter(&arena, options))
        return;
    push_thousand(&arena, "trace", "ok");
    cost = cost_of_waiting(&arena, 4 * per);
    tap_ok(cost < 0.05, "1,000 jobs that wait for a limit use %.2f %% of a core", cost * 100);
    for (int n = 0; n < HOSTS; n++)
        tap_ok(arena_stop(&arena, n) == 0, "laterd %d stops", n);
    read_trace(&arena);
    /* The limit is asked a moment before the job begins, and that may last: so they are counted. */
    most = 3 * ((arena_now() - start) / per + 1);
    tap_ok((double)run_count <= most, "3 in %.0f s: %zu began, at most %.0f", per, run_count, most);
    tap_ok(run_count >= 9, "and in each such time 3 did: %zu by now", run_count);
    for (size_t i = 0; i < run_count; i++)
        wrong += runs[i].attempt != 1;
    tap_ok(wrong == 0 && attempts_noted(&arena) == 0, "waiting is no attempt");
    tap_ok(arena_ask(&arena, "HLEN later:{default}:jobs") == 1000 - (long long)run_count,
           "those that wait are all there");
    arena_close(&arena);
}

static void test_lock(void)
{
    struct arena arena;
    double cost;

    if (!enter(&arena, "workers = 2; types = ( { name = \"trace\"; exclusive = \"type\"; } );"))
        return;
    arena_push(&arena, "long", "trace", "stay");
    arena_seen(&arena, "B long ", 1, 10);
    push_thousand(&arena, "trace", "ok");
    cost = cost_of_waiting(&arena, 3);
    tap_ok(cost < 0.05, "1,000 jobs that wait for a lock use %.2f %% of a core", cost * 100);
    tap_ok(arena_ask(&arena, "HEXISTS later:lock:{type:trace} token") == 1, "for all that time");
    tap_ok(attempts_noted(&arena) == 0, "waiting is no attempt");
    arena_go(&arena);
    tap_ok(arena_drained(&arena, 60), "they run when it is free");
    read_trace(&arena);
    tap_ok(run_count == 1001 && most_at_once() == 1, "each once, one at a time");
    printf("# from the lock's freeing to the last end: %.2f s\n",
           runs[run_count - 1].start - runs[0].end);
    arena_close(&arena);
}

int main(void)
{
    at_once("workers = 3; lease = 20.0; crash_max = 100;\n"
            "types = ( { name = \"trace\"; max_running = 2; } );",
            "max_running = 2", 2, tap_long() ? 300 : 60);
    at_once("workers = 2; lease = 20.0; crash_max = 100;\n"
            "types = ( { name = \"trace\"; exclusive = \"type\"; } );",
            "exclusive", 1, tap_long() ? 150 : 30);
    test_short();
    test_hand_over();
    test_limit();
    test_lock();
    return tap_end();
}
