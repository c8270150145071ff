/* test_sentinel.c: the master that Sentinels watch is killed, stopped, replaced and cut off, while
 * jobs are pushed and performed. */
#include "arena.h"
#include "tap.h"
#include "tests/support/node.h"
#include "tests/support/sentinels.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define RECOVERY  (SENTINELS_DOWN + 4) /* seconds, of the issue */
#define SAFE      "min-replicas-to-write 1\nmin-replicas-max-lag 3\n"
#define JOBS_LOST 50

static bool enter(struct arena *arena, struct sentinels *set, const char *options)
{
    if (sentinels_open(set, options) < 0) {
        tap_ok(false, "three Redis servers, three Sentinels");
        return false;
    }
    if (arena_open(arena, NULL) == 0) {
        strcpy(arena->url, set->url);
        arena->direct = node_connect(set->redis_port[0]);
        if (arena->direct && arena_start(arena, 0, "workers = 4; lease = 5.0;") == 0)
            return true;
    }
    tap_ok(false, "an arena");
    arena_close(arena);
    sentinels_close(set);
    return false;
}

static void leave(struct arena *arena, struct sentinels *set)
{
    tap_ok(arena_stop(arena, 0) == 0, "laterd stops");
    arena_close(arena);
    sentinels_close(set);
}

/* What the test looks at from now on: the new master. */
static bool look_at(struct arena *arena, struct sentinels *set, int which)
{
    if (arena->direct)
        redisFree(arena->direct);
    arena->direct = which < 0 ? NULL : node_connect(set->redis_port[which]);
    return arena->direct != NULL;
}

/* Pushes one job after another until one is taken and has begun. Returns when. The client is
 * impatient, so that laterd's time is measured and not its own; on a busy machine less so. */
static double recovered(struct arena *arena)
{
    const double busy = fmax(arena_busy() / 5, 1);
    const struct later_client_options options = { .url = arena->url, .timeout = 0.3 * busy };
    double until = arena_until(20);
    struct later_error err;
    char id[32], line[40];

    later_client_close(arena->client);
    arena->client = later_client_open_with(&options, &err);
    for (int i = 0; arena->client && arena_now() < until; i++) {
        snprintf(id, sizeof id, "probe-%d", i);
        snprintf(line, sizeof line, "B %s ", id);
        if (arena_push(arena, id, "trace", "sleep 0") == 0)
            return arena_seen(arena, line, 1, 20);
        arena_sleep(0.02);
    }
    return 0;
}

static void check(struct arena *arena, const char *what, bool planned)
{
    struct tally tally;

    if (!tap_ok(arena_tally(arena, &tally) == 0, "%s: a tally", what))
        return;
    tap_ok(tally.acked > 20, "%s: %zu jobs", what, tally.acked);
    tap_ok(tally.lost == 0 && tally.unexpected == 0, "%s: lost %zu, unexpected %zu", what,
           tally.lost, tally.unexpected);
    tap_ok(tally.unexplained == 0 && (!planned || tally.twice == 0),
           "%s: %zu run twice, each for the fault", what, tally.duplicated);
    tap_ok(tally.conserved, "%s: the counters add up", what);
    tally_free(&tally);
}

/* --- with a replica that must be there for every write --- */

static bool kill_it(struct sentinels *set)
{
    return kill(set->redis[0], SIGKILL) == 0;
}

static bool stop_it(struct sentinels *set)
{
    return kill(set->redis[0], SIGSTOP) == 0;
}

/* As in doc/operations.md: writes are stopped, then the Sentinels are told. */
static bool replace_it(struct sentinels *set)
{
    return node_do(set->redis_port[0], "CLIENT PAUSE 30000 WRITE") &&
           node_do(set->sentinel_port[0], "SENTINEL FAILOVER " SENTINELS_MASTER);
}

static const struct {
    const char *what;
    bool (*begin)(struct sentinels *);
    bool planned; /* nothing runs twice */
} faults[] = {
    { "kill -9", kill_it, false },
    { "SIGSTOP", stop_it, false },
    { "SENTINEL FAILOVER", replace_it, true },
};

/* The old master is still there, but no process of laterd's may stay with it. */
static void check_left(const struct sentinels *set, const char *what)
{
    double until = arena_until(5);
    int stay;

    do {
        stay = node_clients(set->redis_port[0], "laterd");
        arena_sleep(0.02);
    } while (stay != 0 && arena_now() < until);
    tap_ok(stay == 0, "%s: %d of laterd's connections stay at the old master", what, stay);
}

/* Returns how long nothing went on. */
static double test_fault(size_t which)
{
    const char *what = faults[which].what;
    const struct produce load = {
        .prefix = "s", .seed = 3, .burst = 10, .slow_ms = 20, .rate = 100, .seconds = 9
    };
    struct sentinels set;
    struct arena arena;
    double start, up;
    pid_t producer;

    if (!enter(&arena, &set, SAFE))
        return 0;
    producer = arena_produce(&arena, &load);
    arena_sleep(1.5);
    start = arena_now();
    tap_ok(faults[which].begin(&set), "%s of the master", what);
    up = recovered(&arena);
    tap_ok(up > 0, "%s: going on after %.2f s", what, up - start);
    arena_fault(&arena, start, what);
    if (faults[which].begin == stop_it) {
        arena_sleep(0.5);            /* the other Sentinels hear of it */
        kill(set.redis[0], SIGCONT); /* it thinks that it is the master still */
    }
    tap_ok(look_at(&arena, &set, sentinels_await(&set, 0, 10)), "%s: another is the master", what);
    if (faults[which].begin != kill_it)
        check_left(&set, what);
    arena_produced(producer);
    tap_ok(arena_drained(&arena, 15), "%s: all jobs are over", what);
    check(&arena, what, faults[which].planned);
    tap_ok(arena_logged(&arena, 0, "min-replicas-to-write is 0") == 0, "%s: no warning", what);
    leave(&arena, &set);
    return up - start;
}

/* The best of three rounds, since other tests may have the machine; whatever is lost, in each. */
static void test_recovery(size_t which)
{
    double best = 1e9;

    for (int round = 0; round < 3 && best > RECOVERY; round++) {
        double took = test_fault(which);

        best = took < best ? took : best;
    }
    tap_ok(arena_soon(best, RECOVERY), "%s: going on after %.2f s, at most %.0f on an idle machine",
           faults[which].what, best, RECOVERY);
}

/* --- a master that was alone, then died --- */

/* Pushes jobs that wait; returns how many were taken. */
static size_t push_waiting(struct arena *arena)
{
    size_t taken = 0;

    for (int i = 0; i < JOBS_LOST; i++) {
        char id[32];
        const struct later_new_job job = {
            .id = id, .type = "trace", .payload = "\"sleep 0\"", .in = 600
        };
        struct later_error err;

        snprintf(id, sizeof id, "alone-%d", i);
        if (later_push(arena->client, "default", &job, NULL, NULL, &err) == 0)
            taken++;
    }
    return taken;
}

static void test_alone(const char *options, bool safe)
{
    const char *what = safe ? "alone, min-replicas-to-write 1" : "alone, min-replicas-to-write 0";
    struct sentinels set;
    struct arena arena;
    struct later_error err;
    size_t taken;
    double start;

    if (!enter(&arena, &set, options))
        return;
    arena.client = later_client_open(arena.url, &err);
    tap_ok(arena.client && sentinels_cut(&set), "%s: no replica copies any more", what);
    taken = push_waiting(&arena);
    start = arena_now();
    kill_it(&set);
    tap_ok(recovered(&arena) > 0, "%s: going on", what);
    arena_fault(&arena, start, what);
    tap_ok(look_at(&arena, &set, sentinels_await(&set, 0, 10)), "%s: another is the master", what);
    tap_note("%s: of %d pushes %zu were taken, %zu of them lost", what, JOBS_LOST, taken,
             taken - (size_t)arena_ask(&arena, "ZCARD later:{default}:delayed"));
    if (safe)
        tap_ok(arena_ask(&arena, "ZCARD later:{default}:delayed") == (long long)taken,
               "%s: none that was taken is lost", what);
    tap_ok((arena_logged(&arena, 0, "min-replicas-to-write is 0") > 0) == !safe,
           "%s: laterd warns where there is reason", what);
    leave(&arena, &set);
}

int main(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        test_recovery(i);
    test_alone("min-replicas-to-write 0\n", false);
    test_alone(SAFE, true);
    return tap_end();
}
