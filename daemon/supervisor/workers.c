/* workers.c: worker processes on their seats, and those that are leaving. */
#include "supervisor/workers.h"

#include "base/clock.h"
#include "fault.h"
#include "log.h"
#include "memory.h"
#include "supervisor/pages.h"
#include "supervisor/restart.h"
#include "supervisor/workload.h"
#include "timer.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_SECONDS 10 /* for a new generation to be ready */
#define TRIAL_TIMES   3  /* how often one of its workers may fail, */
#define TRIAL_AGAIN   1  /* seconds apart */

struct seat {
    struct workers *workers;
    struct generation *generation;
    const struct config_pool *pool;
    struct process *process; /* NULL while there is none */
    struct restart restart;
    struct timer *timer;
    bool on_trial;
    unsigned failures; /* during the trial */
};

/* The seats of one generation. */
struct seats {
    struct seat *list;
    size_t count;
};

struct workers {
    struct event_base *base;
    struct workers_options options;
    struct seats seats;
    struct seats trial; /* of a generation on trial */
    struct timer *trial_timer;
    struct fault refusal;       /* a plugin does not start */
    struct fault unstarted;     /* a process cannot be forked */
    struct process *leaving;    /* those without a seat */
    int started;                /* so far; gives them their numbers */
    uint64_t performed, failed; /* attempts of workers that have ended */
    uint32_t crashes;           /* those of them that died by themselves */
    bool paused;
};

static void on_trial_timer(void *arg);

struct workers *workers_new(struct event_base *base, const struct workers_options *options)
{
    struct workers *workers = calloc(1, sizeof *workers);

    if (!workers)
        return NULL;
    *workers = (struct workers){ .base = base, .options = *options };
    workers->trial_timer = timer_new(base, on_trial_timer, workers);
    if (!workers->trial_timer) {
        free(workers);
        return NULL;
    }
    return workers;
}

static void each_on(const struct seats *seats, void (*fn)(struct process *process, void *arg),
                    void *arg)
{
    for (size_t i = 0; i < seats->count; i++) {
        if (seats->list[i].process)
            fn(seats->list[i].process, arg);
    }
}

void workers_each(const struct workers *workers, void (*fn)(struct process *process, void *arg),
                  void *arg)
{
    struct process *next;

    each_on(&workers->seats, fn, arg);
    each_on(&workers->trial, fn, arg);
    for (struct process *process = workers->leaving; process; process = next) {
        next = process->next;
        fn(process, arg);
    }
}

/* --- starting --- */

static bool all_ready(const struct seats *seats)
{
    for (size_t i = 0; i < seats->count; i++) {
        if (!seats->list[i].process || !seats->list[i].process->ready)
            return false;
    }
    return seats->count > 0;
}

static void drain_leaving(struct workers *workers, const char *why)
{
    for (struct process *process = workers->leaving; process; process = process->next) {
        const struct config *config = process->generation->config;

        process_drain(process, config->drain, config->grace, why);
    }
}

static void end_trial(struct workers *workers, const char *why);

static void on_report(void *arg, struct process *process, char report)
{
    struct workers *workers = arg;

    if (report == WORKER_BUSY)
        keeper_busy(workers->options.keeper);
    if (report == WORKER_IDLE)
        workers->options.idle(workers->options.arg);
    if (report == WORKER_STIRS) {
        process->roused = 0;
        workers->options.stirred(workers->options.arg);
    }
    if (report == WORKER_SPENT)
        workers->options.spent(workers->options.arg);
    if (report != WORKER_READY)
        return;
    process->ready = true;
    if (all_ready(&workers->seats))
        fault_over(&workers->refusal);
    if (all_ready(&workers->trial))
        end_trial(workers, NULL);
    else if (!workers->trial.count && all_ready(&workers->seats))
        workers->options.ready(workers->options.arg);
}

static void start_worker(struct seat *seat)
{
    struct workers *workers = seat->workers;
    struct later_error err, ignored;
    char folder[512], page[600];
    const struct process_options options = {
        .base = workers->base,
        .generation = seat->generation,
        .pool = seat->pool,
        .number = workers->started + 1,
        .page = page,
        .host = workers->options.host,
        .quota = workers->options.quota,
        .overlay = workers->options.overlay,
        .listens = workers->options.listens || config_pool_is_large(seat->pool),
        .paused = workers->paused || seat->on_trial,
        .on_report = on_report,
        .arg = workers,
    };

    /* An earlier laterd may have had our pid, as in containers, where it is always 1. The time
     * keeps our pages apart from its pages. */
    snprintf(page, sizeof page, "%s/%d.%d.%" PRId64, workers->options.slots_dir, (int)getpid(),
             ++workers->started, (int64_t)(later_clock() * 1e6));
    seat->process = process_start(&options, &err);
    if (!seat->process) { /* no process, descriptor, memory or folder: that may pass */
        fault_note(&workers->unstarted, LOG_ERROR, "%s; trying again", err.text);
        (void)pages_make_folder(seat->generation->config->state_dir, folder, sizeof folder,
                                &ignored);
        timer_in(seat->timer, 1);
        return;
    }
    fault_over(&workers->unstarted);
    keeper_watch(workers->options.keeper, seat->process->slots);
}

static void on_seat_timer(void *arg)
{
    struct seat *seat = arg;

    if (!seat->process)
        start_worker(seat);
}

static int make_seats(struct workers *workers, struct seats *seats, struct generation *generation,
                      bool on_trial)
{
    const struct config *config = generation->config;
    size_t count = 0;

    for (uint32_t p = 0; p < config->pool_count; p++)
        count += config->pools[p].workers;
    *seats = (struct seats){ .list = calloc(count, sizeof *seats->list) };
    for (uint32_t p = 0; seats->list && p < config->pool_count; p++) {
        for (uint32_t w = 0; w < config->pools[p].workers; w++) {
            struct seat *seat = &seats->list[seats->count];

            *seat = (struct seat){ .workers = workers,
                                   .generation = generation,
                                   .pool = &config->pools[p],
                                   .on_trial = on_trial };
            seat->timer = timer_new(workers->base, on_seat_timer, seat);
            if (!seat->timer)
                return -1;
            seats->count++;
        }
    }
    return seats->list ? 0 : -1;
}

static void start_all(const struct seats *seats)
{
    for (size_t i = 0; i < seats->count; i++)
        start_worker(&seats->list[i]);
}

void workers_start(struct workers *workers, struct generation *generation)
{
    if (make_seats(workers, &workers->seats, generation, false) < 0)
        log_line(LOG_ERROR, "no memory for all workers: started %zu", workers->seats.count);
    start_all(&workers->seats);
}

/* Takes seats away. Their workers leave when they are told. */
static void free_seats(struct workers *workers, struct seats *seats)
{
    for (size_t i = 0; i < seats->count; i++) {
        struct process *process = seats->list[i].process;

        timer_free(seats->list[i].timer);
        if (!process)
            continue;
        process->next = workers->leaving;
        workers->leaving = process;
    }
    free(seats->list);
    *seats = (struct seats){ 0 };
}

/* --- a new generation on trial --- */

void workers_try(struct workers *workers, struct generation *generation)
{
    if (make_seats(workers, &workers->trial, generation, true) < 0) {
        end_trial(workers, "no memory");
        return;
    }
    timer_in(workers->trial_timer, TRIAL_SECONDS);
    start_all(&workers->trial);
}

/* Workers that are ready leave when told; those that hang in a plugin's start get TERM and KILL. */
static void dismiss_trial(struct workers *workers)
{
    for (size_t i = 0; i < workers->trial.count; i++) {
        struct process *process = workers->trial.list[i].process;

        if (!process)
            continue;
        process->dismissed = true;
        process_drain(process, process->ready ? TRIAL_SECONDS : 0, 1, "its trial is over");
    }
    free_seats(workers, &workers->trial);
}

static void take_seats(struct workers *workers)
{
    free_seats(workers, &workers->seats);
    workers->seats = workers->trial;
    workers->trial = (struct seats){ 0 };
    for (size_t i = 0; i < workers->seats.count; i++) {
        workers->seats.list[i].on_trial = false;
        if (!workers->paused)
            process_order(workers->seats.list[i].process, WORKER_RESUME);
    }
    drain_leaving(workers, "laterd was reloaded");
}

/* If why is not NULL, the trial has failed. */
static void end_trial(struct workers *workers, const char *why)
{
    timer_stop(workers->trial_timer);
    if (!workers->options.tried(workers->options.arg, why)) {
        dismiss_trial(workers);
        return;
    }
    take_seats(workers);
    workers->options.ready(workers->options.arg);
}

static void on_trial_timer(void *arg)
{
    char why[64];

    snprintf(why, sizeof why, "a plugin's start takes longer than %d s", TRIAL_SECONDS);
    end_trial(arg, why);
}

/* --- telling --- */

void workers_retire(struct workers *workers)
{
    timer_stop(workers->trial_timer);
    dismiss_trial(workers);
    free_seats(workers, &workers->seats);
    drain_leaving(workers, "laterd was stopped");
}

void workers_quit(struct workers *workers)
{
    for (struct process *process = workers->leaving; process; process = process->next)
        process_end(process, LATER_ENDED_INTERRUPTED, "laterd was told to quit",
                    process->generation->config->grace);
}

static void pause_one(struct process *process, void *arg)
{
    const struct workers *workers = arg;

    process_order(process, workers->paused ? WORKER_PAUSE : WORKER_RESUME);
}

/* Workers on trial are paused until they take the seats; those that leave begin nothing anyway. */
void workers_pause(struct workers *workers, bool paused)
{
    workers->paused = paused;
    each_on(&workers->seats, pause_one, workers);
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

static void doubt_one(struct process *process, void *arg)
{
    (void)arg;
    process_order(process, WORKER_DOUBT);
}

void workers_doubt(struct workers *workers)
{
    workers_each(workers, doubt_one, NULL);
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
        process_end(process, LATER_ENDED_TIMEOUT, expulsion->why, expulsion->grace);
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

static struct seat *seat_of(const struct seats *seats, pid_t pid)
{
    for (size_t i = 0; i < seats->count; i++) {
        if (seats->list[i].process && seats->list[i].process->pid == pid)
            return &seats->list[i];
    }
    return NULL;
}

/* Where it is: on a seat, which is *seat then, or on the list of those that are leaving. There is
 * NULL if it is nowhere. */
static struct process **workers_find(struct workers *workers, pid_t pid, struct seat **seat)
{
    struct process **link = &workers->leaving;

    *seat = seat_of(&workers->seats, pid);
    if (!*seat)
        *seat = seat_of(&workers->trial, pid);
    while (!*seat && *link && (*link)->pid != pid)
        link = &(*link)->next;
    return *seat ? &(*seat)->process : link;
}

/* Did it run a handler? */
static bool was_performing(const struct slots *slots)
{
    for (uint32_t i = 0; i < slots_used(slots); i++) {
        struct slot *slot = &slots->page->slots[i];

        if (slot_state(slot) == SLOT_RUNNING && slot->began > 0)
            return true;
    }
    return false;
}

/* refused: a plugin did not start, and that was logged. */
static void fill_seat(struct seat *seat, enum restart_cause cause, double lived, bool refused)
{
    double wait = restart_after(&seat->restart, cause, lived);

    if (wait > 0 && !refused)
        log_line(LOG_WARN, "%u crashes in a row: the next worker in %.0f s",
                 (unsigned)seat->restart.crashes, wait);
    timer_in(seat->timer, wait);
}

/* A worker on trial has ended before all were ready. */
static void try_again(struct seat *seat, const char *why)
{
    if (++seat->failures < TRIAL_TIMES)
        timer_in(seat->timer, TRIAL_AGAIN);
    else
        end_trial(seat->workers, why);
}

bool workers_ended(struct workers *workers, pid_t pid)
{
    struct seat *seat;
    struct process **link = workers_find(workers, pid, &seat), *process = *link;
    enum restart_cause restart = RESTART_GOOD;
    char text[640];
    bool crash;
    int status;

    if (!process)
        return false;
    *link = seat ? NULL : process->next;
    status = process_reap(process);
    crash = process_crashed(process, status);
    if (crash)
        restart = was_performing(process->slots) ? RESTART_JOB : RESTART_CRASH;
    process_describe(process, status, text, sizeof text);
    if (process->refused[0] && seat && !seat->on_trial)
        fault_note(&workers->refusal, LOG_ERROR, "%s", text);
    else if (!process->refused[0] && !process->dismissed && (crash || !WIFEXITED(status)))
        log_line(LOG_WARN, "worker %d (pid %d): %s", process->number, (int)pid, text);
    workers->performed += atomic_load(&process->slots->page->performed);
    workers->failed += atomic_load(&process->slots->page->failed);
    if (crash && !process->refused[0]) {
        workers->crashes++;
        workers->options.crashed(workers->options.arg);
    }
    if (atomic_load(&process->slots->page->idle) == SLOTS_IDLE_CALLED)
        workers->options.uncalled(workers->options.arg, process->called);
    keeper_died(workers->options.keeper, process->slots, process_ending(process, status), text);
    if (seat && seat->on_trial)
        try_again(seat, text);
    else if (seat)
        fill_seat(seat, restart, later_clock() - process->started, process->refused[0]);
    process_free(process);
    if (!seat)
        workers->options.gone(workers->options.arg);
    return true;
}

bool workers_has(struct workers *workers, pid_t pid)
{
    struct seat *seat;

    return *workers_find(workers, pid, &seat) != NULL;
}

static void workers_count_one(struct process *process, void *arg)
{
    (void)process;
    ++*(size_t *)arg;
}

size_t workers_count(const struct workers *workers)
{
    size_t count = 0;

    workers_each(workers, workers_count_one, &count);
    return count;
}

size_t workers_seats(const struct workers *workers)
{
    return workers->seats.count;
}

size_t workers_on_trial(const struct workers *workers)
{
    return workers->trial.count;
}

static void sum_one(struct process *process, void *arg)
{
    workload_add(process, arg);
}

void workers_sum(const struct workers *workers, struct announce_state *state)
{
    if (state->weighs)
        state->memory = memory_own(getpid());
    workers_each(workers, sum_one, state);
    state->crashes = workers->crashes;
    state->performed += workers->performed;
    state->failed += workers->failed;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    free_seats(workers, &workers->trial);
    free_seats(workers, &workers->seats);
    timer_free(workers->trial_timer);
    fault_free(&workers->refusal);
    fault_free(&workers->unstarted);
    free(workers);
}
