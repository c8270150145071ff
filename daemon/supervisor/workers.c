/* workers.c: worker processes on their seats, and those that leave. */
#include "supervisor/workers.h"

#include "base/clock.h"
#include "log.h"
#include "supervisor/restart.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct seat {
    struct workers *workers;
    struct generation *generation;
    const struct config_pool *pool;
    struct process *process; /* NULL between two */
    struct restart restart;
    struct event *timer;
};

struct workers {
    struct event_base *base;
    struct workers_options options;
    struct seat *seats;
    size_t seat_count;
    struct process *leaving;    /* no seat any more */
    int started;                /* ever: their numbers */
    uint64_t performed, failed; /* attempts of those that have ended */
    bool paused;
};

struct workers *workers_new(struct event_base *base, const struct workers_options *options)
{
    struct workers *workers = calloc(1, sizeof *workers);

    if (workers)
        *workers = (struct workers){ .base = base, .options = *options };
    return workers;
}

void workers_each(const struct workers *workers, void (*fn)(struct process *process, void *arg),
                  void *arg)
{
    struct process *next;

    for (size_t i = 0; i < workers->seat_count; i++) {
        if (workers->seats[i].process)
            fn(workers->seats[i].process, arg);
    }
    for (struct process *process = workers->leaving; process; process = next) {
        next = process->next;
        fn(process, arg);
    }
}

/* --- starting --- */

static bool all_ready(const struct workers *workers)
{
    for (size_t i = 0; i < workers->seat_count; i++) {
        if (!workers->seats[i].process || !workers->seats[i].process->ready)
            return false;
    }
    return workers->seat_count > 0;
}

static void drain_leaving(struct workers *workers)
{
    for (struct process *process = workers->leaving; process; process = process->next) {
        const struct config *config = process->generation->config;

        process_drain(process, config->drain, config->grace);
    }
}

static void on_report(void *arg, struct process *process, char report)
{
    struct workers *workers = arg;

    if (report == WORKER_BUSY)
        keeper_busy(workers->options.keeper);
    if (report == WORKER_IDLE)
        workers->options.idle(workers->options.arg);
    if (report != WORKER_READY)
        return;
    process->ready = true;
    if (!all_ready(workers))
        return;
    drain_leaving(workers);
    workers->options.ready(workers->options.arg);
}

static void after(struct event *timer, double seconds)
{
    struct timeval tv = { (time_t)seconds,
                          (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6) };

    evtimer_add(timer, &tv);
}

static void start_worker(struct seat *seat)
{
    struct workers *workers = seat->workers;
    struct later_error err;
    char page[600];

    /* The clock keeps it apart from the pages of a laterd with our pid before us, as in containers,
     * where it is 1 each time. */
    snprintf(page, sizeof page, "%s/%d.%d.%" PRId64, workers->options.slots_dir, (int)getpid(),
             ++workers->started, (int64_t)(later_clock() * 1e6));
    seat->process =
        process_start(workers->base, seat->generation, seat->pool, workers->started, page,
                      workers->options.host, workers->options.listens, on_report, workers, &err);
    if (!seat->process) { /* no process, descriptor or memory: it may pass */
        log_line(LOG_ERROR, "%s; trying again", err.text);
        after(seat->timer, 1);
        return;
    }
    keeper_watch(workers->options.keeper, seat->process->slots);
    if (workers->paused)
        process_order(seat->process, WORKER_PAUSE);
}

static void on_seat_timer(evutil_socket_t fd, short what, void *arg)
{
    struct seat *seat = arg;

    (void)fd;
    (void)what;
    if (!seat->process)
        start_worker(seat);
}

static int make_seats(struct workers *workers, struct generation *generation)
{
    const struct config *config = generation->config;
    size_t count = 0;

    for (uint32_t p = 0; p < config->pool_count; p++)
        count += config->pools[p].workers;
    workers->seats = calloc(count, sizeof *workers->seats);
    for (uint32_t p = 0; workers->seats && p < config->pool_count; p++) {
        for (uint32_t w = 0; w < config->pools[p].workers; w++) {
            struct seat *seat = &workers->seats[workers->seat_count];

            *seat = (struct seat){ .workers = workers,
                                   .generation = generation,
                                   .pool = &config->pools[p] };
            seat->timer = evtimer_new(workers->base, on_seat_timer, seat);
            if (!seat->timer)
                return -1;
            workers->seat_count++;
        }
    }
    return workers->seats ? 0 : -1;
}

void workers_start(struct workers *workers, struct generation *generation)
{
    if (make_seats(workers, generation) < 0)
        log_line(LOG_ERROR, "no memory for all workers: %zu are started", workers->seat_count);
    for (size_t i = 0; i < workers->seat_count; i++)
        start_worker(&workers->seats[i]);
}

/* --- telling --- */

static void free_seats(struct workers *workers)
{
    for (size_t i = 0; i < workers->seat_count; i++)
        event_free(workers->seats[i].timer);
    free(workers->seats);
    workers->seats = NULL;
    workers->seat_count = 0;
}

void workers_replace(struct workers *workers)
{
    for (size_t i = 0; i < workers->seat_count; i++) {
        struct process *process = workers->seats[i].process;

        if (!process)
            continue;
        process->next = workers->leaving;
        workers->leaving = process;
    }
    free_seats(workers);
}

void workers_retire(struct workers *workers)
{
    workers_replace(workers);
    drain_leaving(workers);
}

static void pause_one(struct process *process, void *arg)
{
    const struct workers *workers = arg;

    process_order(process, workers->paused ? WORKER_PAUSE : WORKER_RESUME);
}

void workers_pause(struct workers *workers, bool paused)
{
    workers->paused = paused;
    workers_each(workers, pause_one, workers);
}

bool workers_paused(const struct workers *workers)
{
    return workers->paused;
}

static void move_one(struct process *process, void *arg)
{
    process_moved(process, arg);
}

void workers_moved(struct workers *workers, const char *peer)
{
    char copy[LATER_PEER_SIZE];

    snprintf(copy, sizeof copy, "%s", peer);
    workers_each(workers, move_one, copy);
}

struct expulsion {
    const struct slots *slots;
    const char *why;
    double grace;
};

static void expel_one(struct process *process, void *arg)
{
    const struct expulsion *expulsion = arg;

    if (process->slots == expulsion->slots)
        process_end(process, KEEPER_TIMEOUT, expulsion->why, expulsion->grace);
}

void workers_expel(struct workers *workers, const struct slots *slots, const char *why,
                   double grace)
{
    workers_each(workers, expel_one, &(struct expulsion){ slots, why, grace });
    workers_tick(workers);
}

static void tick_one(struct process *process, void *arg)
{
    (void)arg;
    process_tick(process);
}

void workers_tick(struct workers *workers)
{
    workers_each(workers, tick_one, NULL);
}

/* --- ending --- */

/* Takes a process off its seat, or off the list of those that leave. */
static struct process *take(struct workers *workers, pid_t pid, struct seat **seat)
{
    *seat = NULL;
    for (size_t i = 0; i < workers->seat_count; i++) {
        struct process *process = workers->seats[i].process;

        if (process && process->pid == pid) {
            *seat = &workers->seats[i];
            workers->seats[i].process = NULL;
            return process;
        }
    }
    for (struct process **link = &workers->leaving; *link; link = &(*link)->next) {
        struct process *process = *link;

        if (process->pid != pid)
            continue;
        *link = process->next;
        return process;
    }
    return NULL;
}

/* A worker that was killed from outside is not to blame: it comes back at once. */
static bool crashed(const struct process *process, int status)
{
    if (process->why[0])
        return false;
    if (WIFSIGNALED(status))
        return WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM;
    return WEXITSTATUS(status) != 0 || slots_busy(process->slots);
}

static void fill_seat(struct seat *seat, bool crash, double lived)
{
    double wait = restart_after(&seat->restart, crash, lived);

    if (wait > 0)
        log_line(LOG_WARN, "%u crashes in a row: the next worker in %.0f s",
                 (unsigned)seat->restart.crashes, wait);
    after(seat->timer, wait);
}

bool workers_ended(struct workers *workers, pid_t pid, int status)
{
    struct seat *seat;
    struct process *process = take(workers, pid, &seat);
    enum keeper_cause cause;
    char text[160];
    bool crash;

    if (!process)
        return false;
    crash = crashed(process, status);
    cause = process->why[0] || process->draining ? process->cause : KEEPER_CRASH;
    process_describe(process, status, text, sizeof text);
    if (crash || !WIFEXITED(status))
        log_line(LOG_WARN, "worker %d (pid %d): %s", process->number, (int)pid, text);
    workers->performed += atomic_load(&process->slots->page->performed);
    workers->failed += atomic_load(&process->slots->page->failed);
    if (atomic_load(&process->slots->page->idle) == SLOTS_IDLE_CALLED)
        workers->options.uncalled(workers->options.arg, process->called);
    keeper_died(workers->options.keeper, process->slots, cause, text);
    if (seat)
        fill_seat(seat, crash, later_clock() - process->started);
    process_free(process);
    if (!seat)
        workers->options.gone(workers->options.arg);
    return true;
}

bool workers_has(const struct workers *workers, pid_t pid)
{
    for (size_t i = 0; i < workers->seat_count; i++) {
        if (workers->seats[i].process && workers->seats[i].process->pid == pid)
            return true;
    }
    for (const struct process *process = workers->leaving; process; process = process->next) {
        if (process->pid == pid)
            return true;
    }
    return false;
}

static void count_one(struct process *process, void *arg)
{
    (void)process;
    ++*(size_t *)arg;
}

size_t workers_count(const struct workers *workers)
{
    size_t count = 0;

    workers_each(workers, count_one, &count);
    return count;
}

size_t workers_seats(const struct workers *workers)
{
    return workers->seat_count;
}

static void sum_one(struct process *process, void *arg)
{
    struct slots_page *page = process->slots->page;
    struct announce_state *state = arg;
    later_queue_name whole;

    state->workers++;
    state->running += atomic_load(&page->running);
    state->busy += atomic_load(&page->running) > 0;
    state->performed += atomic_load(&page->performed);
    state->failed += atomic_load(&page->failed);
    connections_add_all(&state->connections, &page->connections);
    for (uint32_t i = 0; i < slots_used(process->slots); i++) {
        struct slot *slot = &page->slots[i];

        if (slot_state(slot) == SLOT_RUNNING && slot->queue < process->pool->queue_count) {
            later_shard_whole(whole, process->pool->queues[slot->queue].name);
            announce_count(state, whole);
        }
    }
}

void workers_sum(const struct workers *workers, struct announce_state *state)
{
    workers_each(workers, sum_one, state);
    state->performed += workers->performed;
    state->failed += workers->failed;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    free_seats(workers);
    free(workers);
}
