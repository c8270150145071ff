/*
 * chaos.c: `chaos SECONDS SEED`: two laterds, a Redis, a proxy and a producer; every 3 to 7 s one
 * fault, healed within 8 s; a quiet end; then the tally. The seed decides on jobs and faults, and
 * is printed. tests/faults/chaos.sh runs it.
 *
 * What is permitted:
 *  1. A push that was answered ends well, is buried by its handler, or is in Redis in the end. One
 *     that was refused never runs. One whose answer was lost may run or not.
 *  2. A job is run again only where its run failed or killed its worker, where an event job beside
 *     it did so, or where a fault lies between the two beginnings: then a lease may have run out,
 * or a settlement may be on its way.
 *  3. No run begins before the job is due.
 *  4. Of an exclusive type one job runs at once, of max_running = 2 two, of a type or a group, of a
 *     limit of 20 a second no more begin; where a fault lies between the beginnings, a lease may
 * have run out here, too.
 *  5. The counters of Redis add up, and each job is in one set.
 *  6. Both laterds live through it all and end in memory and descriptors as they began.
 * A lease and a job's time are long, so that a process that waits for a processor for some seconds
 * in the quiet is no fault.
 * Redis writes its file at once here (appendfsync no leaves the writing to Redis's loop, the
 * syncing to the kernel), for with everysec a busy disk makes it answer up to two seconds before:
 * that loss is Redis's own.
 */
#include "arena.h"
#include "overlap.h"
#include "tap.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define GROWTH_KIB (3 * 6144)             /* including the overhead of each allocation */
#define QUARANTINE "quarantine_size_mb=4" /* else 256 of what was freed, in an hour */
#else
#define GROWTH_KIB 6144
#endif
#define HOSTS   2 /* laterds */
#define WORKERS 3 /* of each */

#define OPTIONS                                                                                    \
    "lease = 6.0; timeout = 6.0; grace = 0.5; drain = 2.0; crash_max = 3;\n"                       \
    "groups = ( { queue = \"default\"; group = \"bob\"; weight = 3.0; },\n"                        \
    "           { queue = \"default\"; group = \"cy\"; max_running = 2; } );\n"                    \
    "retry = { max_attempts = 6; base = 0.2; max = 2.0; };\n"                                      \
    "types = ( { name = \"trace.lone\"; exclusive = \"type\"; },\n"                                \
    "          { name = \"trace.few\"; max_running = 2; } );\n"                                    \
    "limits = ( { type = \"trace.limited\"; max = 20; per = 1.0; window = \"sliding\"; } );\n"

static const char options[] = OPTIONS "workers = 3;\n";
static const char fewer_workers[] = OPTIONS "workers = 2;\n";
static const char refused_options[] = OPTIONS "workers = \"many\";\n";

/* Up to three seconds. */
static void last(void)
{
    arena_sleep(0.5 + 0.001 * arena_random(2500));
}

static pid_t some_worker(struct arena *arena)
{
    pid_t pids[16];
    size_t count = arena_workers(arena, (int)arena_random(HOSTS), pids, 16);

    return count ? pids[arena_random((unsigned)count)] : 0;
}

static void kill_worker(struct arena *arena)
{
    pid_t pid = some_worker(arena);

    if (pid)
        kill(pid, SIGKILL);
}

static void stop_worker(struct arena *arena)
{
    pid_t pid = some_worker(arena);

    if (!pid)
        return;
    kill(pid, SIGSTOP);
    last();
    kill(pid, SIGCONT);
}

static void stop_host(struct arena *arena)
{
    int n = (int)arena_random(HOSTS);

    arena_signal(arena, n, SIGSTOP);
    last();
    arena_signal(arena, n, SIGCONT);
}

static void kill_supervisor(struct arena *arena)
{
    int n = (int)arena_random(HOSTS);

    arena_kill(arena, n, false);
    arena_sleep(0.001 * arena_random(1000));
    arena_again(arena, n);
}

static void kill_host(struct arena *arena)
{
    int n = (int)arena_random(HOSTS);

    arena_kill(arena, n, true);
    last();
    arena_again(arena, n);
}

static void deploy(struct arena *arena)
{
    int n = (int)arena_random(HOSTS);

    if (arena_stop(arena, n) != 0)
        tap_note("laterd %d did not stop well", n);
    arena_again(arena, n);
}

static void reload(struct arena *arena)
{
    kill(arena->hosts[arena_random(HOSTS)].pid, SIGHUP);
    last();
}

/* Another configuration, then the first. */
static void reload_other(struct arena *arena)
{
    int n = (int)arena_random(HOSTS);

    arena_reload(arena, n, fewer_workers);
    last();
    arena_reload(arena, n, options);
}

/* A configuration that is refused: all goes on with the old one. */
static void reload_refused(struct arena *arena)
{
    int n = (int)arena_random(HOSTS);
    size_t before = arena_logged(arena, n, "reload refused: ");

    arena_reload(arena, n, refused_options);
    for (int i = 0; i < 500 && arena_logged(arena, n, "reload refused: ") == before; i++)
        arena_sleep(0.01);
    arena_reload(arena, n, options);
}

static void kill_redis(struct arena *arena)
{
    server_end(&arena->redis, SIGKILL);
    arena_sleep(0.001 * arena_random(1500));
    server_again(&arena->redis);
}

static void stop_redis(struct arena *arena)
{
    kill(arena->redis.pid, SIGSTOP);
    last();
    kill(arena->redis.pid, SIGCONT);
}

/* Longer than the lease. */
static void freeze_redis(struct arena *arena)
{
    kill(arena->redis.pid, SIGSTOP);
    arena_sleep(6.5 + 0.001 * arena_random(1500));
    kill(arena->redis.pid, SIGCONT);
}

static void full(struct arena *arena)
{
    arena_do(arena, "CONFIG SET maxmemory 1");
    last();
    arena_do(arena, "CONFIG SET maxmemory 0");
}

static void read_only(struct arena *arena)
{
    arena_do(arena, "REPLICAOF 127.0.0.1 1");
    last();
    arena_do(arena, "REPLICAOF NO ONE");
}

static void no_replicas(struct arena *arena)
{
    arena_do(arena, "CONFIG SET min-replicas-to-write 1");
    last();
    arena_do(arena, "CONFIG SET min-replicas-to-write 0");
}

static void few_clients(struct arena *arena)
{
    arena_do(arena, "CONFIG SET maxclients 4");
    arena_do(arena, "CLIENT KILL TYPE normal SKIPME yes");
    last();
    arena_do(arena, "CONFIG SET maxclients 1000");
}

static void kill_clients(struct arena *arena)
{
    arena_do(arena, "CLIENT KILL TYPE normal SKIPME yes");
}

static void pause_clients(struct arena *arena)
{
    arena_do(arena, "CLIENT PAUSE %u WRITE", 500 + arena_random(2500));
    arena_do(arena, "PING");
    arena_sleep(3);
}

static void busy(struct arena *arena)
{
    arena_occupy(arena, 2.5);
}

static void forget_scripts(struct arena *arena)
{
    for (int i = 0; i < 40; i++) {
        arena_do(arena, "SCRIPT FLUSH");
        arena_sleep(0.05);
    }
}

static void lose_replies(struct arena *arena)
{
    arena_order(arena, "drop", 500);
    last();
    arena_order(arena, "drop", 0);
}

static void delay(struct arena *arena)
{
    arena_order(arena, "delay", 20 + arena_random(180));
    last();
    arena_order(arena, "delay", 0);
}

static void cut(struct arena *arena)
{
    arena_order(arena, "cut", 0);
}

static const struct {
    const char *name;
    void (*make)(struct arena *);
} faults[] = {
    { "kill -9 of a worker", kill_worker },
    { "SIGSTOP of a worker", stop_worker },
    { "SIGSTOP of a host", stop_host },
    { "kill -9 of a supervisor", kill_supervisor },
    { "kill -9 of a host", kill_host },
    { "TERM and a new start", deploy },
    { "HUP", reload },
    { "HUP with another configuration", reload_other },
    { "HUP with a refused configuration", reload_refused },
    { "kill -9 of Redis", kill_redis },
    { "SIGSTOP of Redis", stop_redis },
    { "SIGSTOP of Redis for more than a lease", freeze_redis },
    { "OOM", full },
    { "READONLY", read_only },
    { "NOREPLICAS", no_replicas },
    { "max clients", few_clients },
    { "CLIENT KILL", kill_clients },
    { "CLIENT PAUSE", pause_clients },
    { "BUSY", busy },
    { "SCRIPT FLUSH", forget_scripts },
    { "5 % of replies lost", lose_replies },
    { "slow network", delay },
    { "connections cut", cut },
};
#define FAULTS (sizeof faults / sizeof *faults)

/* --- memory and descriptors --- */

struct use {
    pid_t pid;
    long kib, descriptors;
};

static struct use use_of(pid_t pid)
{
    struct use use = { .pid = pid };
    char path[64], line[128];
    struct dirent *entry;
    FILE *file;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "RssAnon: %ld", &use.kib);
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        use.descriptors += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return use;
}

static void judge_use(const struct use *before, const struct use *after, int n)
{
    tap_note("laterd %d: %ld KiB, %ld descriptors; at first %ld, %ld%s", n, after->kib,
             after->descriptors, before->kib, before->descriptors,
             before->pid == after->pid ? "" : " (of an earlier process)");
    tap_ok(after->descriptors <= before->descriptors + 8, "laterd %d: descriptors are flat", n);
    tap_ok(after->kib <= before->kib + GROWTH_KIB, "laterd %d: memory is flat", n);
}

/* --- the run --- */

static void shuffle(size_t *order)
{
    for (size_t i = 0; i < FAULTS; i++) {
        size_t j = arena_random((unsigned)i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

/* All kinds in turn, each time in another order. */
static void make_faults(struct arena *arena, double until)
{
    size_t made[FAULTS] = { 0 }, order[FAULTS], next = 0;

    while (arena_now() < until) {
        size_t i;
        double start = arena_now();

        if (next % FAULTS == 0)
            shuffle(order);
        i = order[next++ % FAULTS];

        faults[i].make(arena);
        arena_fault(arena, start, faults[i].name);
        made[i]++;
        tap_note("%8.3f for %.3f s: %s", start, arena_now() - start, faults[i].name);
        arena_sleep(start + 3 + 0.001 * arena_random(4000) - arena_now());
    }
    for (size_t i = 0; i < FAULTS; i++) {
        if (made[i])
            tap_note("%zu times %s", made[i], faults[i].name);
    }
}

static void judge(struct arena *arena)
{
    struct tally tally;

    if (arena_tally(arena, &tally) < 0) {
        tap_ok(false, "a tally");
        return;
    }
    tap_ok(tally.done > 100, "%zu jobs are done", tally.done);
    tap_ok(tally.lost == 0, "lost %zu", tally.lost);
    tap_ok(tally.unexpected == 0, "unexpected %zu", tally.unexpected);
    tap_ok(tally.unexplained == 0, "duplicated %zu, %zu of them without a fault", tally.duplicated,
           tally.unexplained);
    tap_ok(tally.early == 0, "early %zu", tally.early);
    tap_ok(overlap_at_once(&tally, ".lone", 1) == 0, "exclusive: one at once");
    tap_ok(overlap_at_once(&tally, ".few", 2) == 0, "max_running = 2: two at once");
    tap_ok(overlap_at_once(&tally, ".cy", 2) == 0, "and of a group");
    /* Each worker may stand still between the limit and the begin of one. */
    tap_ok(overlap_too_close(&tally, ".limited", 20 + HOSTS * WORKERS, 0.5) == 0,
           "the limit holds");
    tap_ok(tally.conserved, "the counters add up");
    tally_free(&tally);
}

static void run(struct arena *arena, unsigned seconds, unsigned seed)
{
    double quiet = seconds / 4.0 < 60 ? seconds / 4.0 : 60, start = arena_now();
    const struct produce load = { .prefix = "j",
                                  .seed = seed,
                                  .burst = 10,
                                  .slow_ms = 20,
                                  .rate = 200,
                                  .seconds = seconds - quiet,
                                  .delayed = 20,
                                  .fail = 5,
                                  .crash = 1,
                                  .hang = 1,
                                  .junk = 2,
                                  .mixed = 40 };
    pid_t producer = arena_produce(arena, &load);
    struct use before[HOSTS];

    arena_sleep(2);
    for (int n = 0; n < HOSTS; n++)
        before[n] = use_of(arena->hosts[n].pid);
    make_faults(arena, start + seconds - quiet);
    arena_produced(producer);
    for (int n = 0; n < HOSTS; n++)
        tap_ok(arena_alive(arena, n), "laterd %d is alive", n);
    tap_ok(arena_drained(arena, quiet + 30), "in the quiet all jobs end");
    for (int n = 0; n < HOSTS; n++) {
        struct use after = use_of(arena->hosts[n].pid);

        judge_use(&before[n], &after, n);
    }
    for (int n = 0; n < HOSTS; n++)
        tap_ok(arena_stop(arena, n) == 0, "laterd %d stops", n);
    judge(arena);
}

int main(int argc, char **argv)
{
    struct arena arena;
    unsigned seconds, seed;

    if (argc != 3) {
        fprintf(stderr, "usage: chaos SECONDS SEED\n");
        return 64;
    }
    seconds = (unsigned)atoi(argv[1]);
    seed = (unsigned)atoi(argv[2]);
    tap_note("chaos %u %u", seconds, seed);
    srandom(seed);
#ifdef QUARANTINE
    setenv("ASAN_OPTIONS", QUARANTINE, 0);
#endif
    if (arena_open(&arena, "appendonly yes\nappendfsync no\n") == 0 && arena_proxy(&arena) == 0 &&
        arena_start(&arena, 0, options) == 0 && arena_start(&arena, 1, options) == 0)
        run(&arena, seconds, seed);
    else
        tap_ok(false, "an arena");
    arena_close(&arena);
    return tap_end();
}
