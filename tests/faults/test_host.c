/* test_host.c: a host that runs out of disk, descriptors, processes or memory. */
#include "arena.h"
#include "fail_plan.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAL_SECONDS 5.0

static const char options[] = "workers = 2; lease = 6.5; crash_max = 100;";

static const struct produce load = {
    .prefix = "h", .seed = 21, .burst = 5, .slow_ms = 20, .rate = 60, .seconds = 6
};

static size_t worker_count(struct arena *arena)
{
    pid_t pids[16];

    return arena_workers(arena, 0, pids, 16);
}

static void kill_one(struct arena *arena)
{
    pid_t pids[16];
    double start = arena_now();

    if (arena_workers(arena, 0, pids, 16)) {
        kill(pids[0], SIGKILL);
        arena_fault(arena, start, "kill -9 of a worker");
    }
}

/* Waits until this is so. */
static bool logged(struct arena *arena, const char *text, double seconds)
{
    double until = arena_until(seconds);

    while (!arena_logged(arena, 0, text) && arena_now() < until)
        arena_sleep(0.02);
    return arena_logged(arena, 0, text) > 0;
}

static bool workers_back(struct arena *arena, size_t count)
{
    double until = arena_until(HEAL_SECONDS);

    while (worker_count(arena) < count && arena_now() < until)
        arena_sleep(0.02);
    return worker_count(arena) >= count;
}

static void judge(struct arena *arena, const char *what)
{
    struct tally tally;

    tap_ok(arena_alive(arena, 0), "%s: the supervisor is alive", what);
    tap_ok(arena_drained(arena, 20), "%s: all jobs are over", what);
    if (arena_tally(arena, &tally) == 0) {
        tap_ok(tally.lost == 0 && tally.unexpected == 0 && tally.acked > 20,
               "%s: %zu jobs, lost %zu, unexpected %zu", what, tally.acked, tally.lost,
               tally.unexpected);
        tap_ok(tally.unexplained == 0, "%s: %zu run twice without a killed worker", what,
               tally.unexplained);
        tap_ok(tally.dead == 0 && tally.conserved, "%s: none dead, the counters add up", what);
        tally_free(&tally);
    }
    tap_ok(arena_stop(arena, 0) == 0, "%s: laterd stops", what);
    arena_close(arena);
}

/* --- disk --- */

static void fill(const char *folder)
{
    char path[160], block[4096];
    int fd;

    memset(block, 'x', sizeof block);
    snprintf(path, sizeof path, "%s/filler", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    for (size_t size = sizeof block; fd >= 0 && size; size /= 16) {
        while (write(fd, block, size) == (ssize_t)size)
            ;
    }
    close(fd);
}

static void make_room(const char *folder)
{
    char path[160];

    snprintf(path, sizeof path, "%s/filler", folder);
    unlink(path);
}

/* A small disk for Redis's append-only file, another for the state folder. Both are seen by this
 * program and its children alone. */
static bool make_disks(char *redis, struct arena *arena, char *state, size_t room)
{
    strcpy(redis, "/tmp/later-disk-XXXXXX");
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        !mkdtemp(redis) || mount("tmpfs", redis, "tmpfs", 0, "size=4m") < 0)
        return false;
    setenv("TMPDIR", redis, 1);
    if (arena_open(arena, "appendonly yes\nappendfsync everysec\n") < 0)
        return false;
    unsetenv("TMPDIR");
    snprintf(state, room, "%s/state0", arena->folder);
    return mkdir(state, 0700) == 0 && mount("tmpfs", state, "tmpfs", 0, "size=24m,mode=700") == 0;
}

static void test_disk(void)
{
    struct arena arena;
    char redis[64], state[128];
    pid_t producer;

    if (!make_disks(redis, &arena, state, sizeof state) || arena_start(&arena, 0, options) < 0) {
        tap_ok(false, "disks of a test's own (root, mount): %s", strerror(errno));
        return;
    }
    arena_push(&arena, "long", "trace", "sleep 8000");
    producer = arena_produce(&arena, &load);
    arena_sleep(0.5);
    fill(state);
    kill_one(&arena);
    tap_ok(logged(&arena, "No space left", 5), "a full state folder is told");
    tap_ok(worker_count(&arena) == 1, "the other worker goes on");
    fill(redis);
    tap_ok(logged(&arena, "MISCONF", 5), "and Redis's full disk, too");
    arena_sleep(1);
    make_room(redis);
    make_room(state);
    tap_ok(workers_back(&arena, 2), "with room again both workers are there");
    arena_produced(producer);
    judge(&arena, "full disks");
    umount2(state, MNT_DETACH);
    umount2(redis, MNT_DETACH);
    rmdir(redis);
}

/* --- descriptors --- */

static void limit_descriptors(pid_t pid, rlim_t most)
{
    struct rlimit limit;

    if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0)
        return;
    limit.rlim_cur = most ? most : limit.rlim_max;
    prlimit(pid, RLIMIT_NOFILE, &limit, NULL);
}

/* None are left: neither for a new worker nor for a new connection. */
static void test_descriptors(void)
{
    struct arena arena;
    pid_t pids[16], producer;
    size_t count;

    if (arena_open(&arena, NULL) < 0 || arena_start(&arena, 0, options) < 0) {
        tap_ok(false, "an arena");
        return;
    }
    producer = arena_produce(&arena, &load);
    arena_sleep(0.5);
    limit_descriptors(arena.hosts[0].pid, 4);
    kill_one(&arena);
    tap_ok(logged(&arena, "Too many open files", 5), "no descriptor: told");
    count = arena_workers(&arena, 0, pids, 16);
    for (size_t i = 0; i < count; i++)
        limit_descriptors(pids[i], 4);
    arena_do(&arena, "CLIENT KILL TYPE normal SKIPME yes");
    arena_sleep(3);
    limit_descriptors(arena.hosts[0].pid, 0);
    for (size_t i = 0; i < count; i++)
        limit_descriptors(pids[i], 0);
    tap_ok(workers_back(&arena, 2), "with descriptors again both workers are there");
    arena_produced(producer);
    judge(&arena, "no descriptors");
}

/* --- processes and memory --- */

static struct fail_plan *make_plan(struct arena *arena)
{
    static char shim[300];
    const char *top = getenv("top_builddir");
    char path[128];
    int fd;
    void *map;

    snprintf(shim, sizeof shim, "%s/tests/faults/fail_shim.so", top ? top : ".");
    snprintf(path, sizeof path, "%s/plan", arena->folder);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct fail_plan)) < 0)
        return NULL;
    map = mmap(NULL, sizeof(struct fail_plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    setenv("FAIL_PLAN", path, 1);
    arena->preload = shim;
    return map == MAP_FAILED ? NULL : map;
}

static struct fail_plan *enter(struct arena *arena)
{
    struct fail_plan *plan;

    if (arena_open(arena, NULL) == 0 && (plan = make_plan(arena)) &&
        arena_start(arena, 0, options) == 0)
        return plan;
    tap_ok(false, "an arena");
    arena_close(arena);
    return NULL;
}

/* Half of the forks fail, then all. */
static void test_fork(void)
{
    struct arena arena;
    struct fail_plan *plan = enter(&arena);
    pid_t producer;

    if (!plan)
        return;
    producer = arena_produce(&arena, &load);
    plan->fork_every = 2;
    for (int i = 0; i < 6; i++) {
        arena_sleep(0.3);
        kill_one(&arena);
    }
    plan->fork_every = 1;
    kill_one(&arena);
    tap_ok(logged(&arena, "Resource temporarily unavailable", 5), "fork fails: told");
    arena_sleep(2);
    for (double until = arena_until(5); plan->forks_failed < 3 && arena_now() < until;)
        arena_sleep(0.02);
    plan->fork_every = 0;
    tap_ok(workers_back(&arena, 2), "both workers are there again");
    tap_ok(plan->forks_failed >= 3, "%u forks failed", plan->forks_failed);
    arena_produced(producer);
    judge(&arena, "failing forks");
    munmap(plan, sizeof *plan);
}

/* Seconds of failing allocations, while a worker is killed. Returns false if laterd ended. */
static bool starve(struct arena *arena, struct fail_plan *plan, bool all, unsigned every)
{
    double start = arena_now();

    plan->malloc_pid = all ? 0 : arena->hosts[0].pid;
    plan->malloc_every = every;
    kill_one(arena);
    arena_sleep(1);
    plan->malloc_every = 0;
    arena_fault(arena, start, "failing malloc");
    return tap_ok(arena_alive(arena, 0), "every %u-th malloc fails %s", every,
                  all ? "everywhere" : "in the supervisor");
}

/* libconfig ends a process where malloc() fails. laterd asks first. */
static void reload_starving(struct arena *arena, struct fail_plan *plan)
{
    plan->malloc_above = 200 * 1024;
    kill(arena->hosts[0].pid, SIGHUP);
    tap_ok(logged(arena, "reload refused: no memory", 5),
           "a reload without memory: told, nothing is changed");
    plan->malloc_above = 0;
}

static void test_memory(void)
{
    struct arena arena;
    struct fail_plan *plan = enter(&arena);
    pid_t producer;

    if (!plan)
        return;
    producer = arena_produce(&arena, &load);
    arena_sleep(0.5);
    if (!starve(&arena, plan, false, 40) || !starve(&arena, plan, false, 3) ||
        !starve(&arena, plan, true, 40) || !starve(&arena, plan, true, 3)) {
        arena_close(&arena);
        return;
    }
    reload_starving(&arena, plan);
    tap_ok(workers_back(&arena, 2), "both workers are there again");
    tap_ok(plan->mallocs_failed >= 10, "%u allocations failed", plan->mallocs_failed);
    arena_produced(producer);
    judge(&arena, "failing malloc");
    munmap(plan, sizeof *plan);
}

int main(void)
{
    test_descriptors();
    test_fork();
    test_memory();
    test_disk();
    return tap_end();
}
