/* work_loop.c: the loop of `later work`. */
#include "work/work.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- signals --- */

static void work_loop_reap(struct work *work)
{
    for (size_t i = 0; i < work->runner_count; i++) {
        struct runner *runner = &work->runners[i];

        if (runner->state == RUNNER_RUNNING && waitpid(runner->pid, &runner->status, WNOHANG) > 0)
            runner->state = RUNNER_ENDED;
    }
}

static void take_stop(struct work *work)
{
    size_t running = work_count(work, RUNNER_RUNNING);

    work->stop++;
    if (work->stop == 1 && running > 0)
        cli_say(work->cli, "stopping: %zu still running; a second signal returns them", running);
    for (size_t i = 0; i < work->runner_count && work->stop > 1; i++) {
        runner_stop(&work->runners[i], RUNNER_INTERRUPTED);
        if (work->stop > 2) /* a third signal does not wait for the grace */
            work->runners[i].kill_at = 0;
    }
}

static void work_loop_read_signals(struct work *work)
{
    struct signalfd_siginfo info;

    while (read(work->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            take_stop(work);
    }
    work_loop_reap(work);
}

/* The mask stays until the end. child_start() clears it for the programs. */
int work_catch_signals(struct work *work, struct later_error *err)
{
    struct sigaction hangup;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP); /* otherwise we were started by nohup(1) */
    sigprocmask(SIG_BLOCK, &set, NULL);
    work->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return work->signals < 0 ? later_fail(err, LATER_E_SYSTEM, "signalfd: %s", strerror(errno)) : 0;
}

/* --- the loop --- */

static void work_loop_settle(struct work *work)
{
    struct later_error err;

    for (size_t i = 0; i < work->runner_count && !work_redis_is_away(work); i++) {
        struct runner *runner = &work->runners[i];

        if (runner->state != RUNNER_ENDED)
            continue;
        if (runner_settle(runner, &work->shared, &err) == 0) {
            work->retry_at = 0;
            work->more = true; /* for the runner that is free now */
            continue;
        }
        work_note_failure(work, &err);
        if (err.code != LATER_E_REDIS) {
            cli_say(work->cli, "%s: not settled; it comes back when its lease ends", runner->id);
            runner->state = RUNNER_FREE;
        }
    }
}

static void watch_seats(struct work *work)
{
    struct later_error err;
    double now = later_clock();

    for (size_t i = 0; i < work->runner_count; i++) {
        struct runner *runner = &work->runners[i];

        runner_tick(runner, now);
        if (runner->state == RUNNER_RUNNING && now >= runner->touch_at &&
            !work_redis_is_away(work) && runner_renew(runner, &work->shared, &err) < 0)
            work_note_failure(work, &err);
    }
}

/* Is there nothing left to do? */
static bool finished(struct work *work)
{
    if (work_count(work, RUNNER_RUNNING) > 0)
        return false;
    if (work_count(work, RUNNER_ENDED) > 0) { /* Redis is away: wait for it a lease at most */
        if (!work->stop && !work->broken)
            return false;
        if (work->give_up_at <= 0)
            work->give_up_at = later_clock() + work->taker.lease;
        return later_clock() > work->give_up_at;
    }
    return work->stop || work->broken || work->left == 0 || (work->until_empty && !work->more);
}

/* Is there a reason to look into the queues now? */
static bool must_take(const struct work *work)
{
    return work_wanted(work) > 0 && !work_redis_is_away(work) &&
           (work->more || wake_listener_have(&work->listener) || later_clock() >= work->look_at);
}

/* Returns the seconds until something is due by the clock. */
static double work_loop_rest(const struct work *work)
{
    double now = later_clock(), next = now + 3600;
    bool away = work_redis_is_away(work);

    if (must_take(work))
        return 0;
    for (size_t i = 0; i < work->runner_count; i++)
        next = fmin(next, runner_next(&work->runners[i], away));
    if (away)
        next = fmin(next, work->retry_at);
    else if (work_wanted(work) > 0)
        next = fmin(next, work->look_at);
    return fmax(0, fmin(next, wake_listener_deadline(&work->listener)) - now);
}

static void sleep_until_needed(struct work *work)
{
    struct pollfd polled[1 + WAKE_LISTENER_MAX] = { { .fd = work->signals, .events = POLLIN } };
    size_t count = wake_listener_poll(&work->listener, polled + 1);

    if (poll(polled, 1 + count, (int)ceil(work_loop_rest(work) * 1000)) < 0)
        return; /* the signal is in the signalfd */
    wake_listener_handle(&work->listener, polled + 1);
}

void work_loop(struct work *work)
{
    for (;;) {
        work_loop_read_signals(work);
        work_loop_settle(work);
        watch_seats(work);
        if (must_take(work))
            work_take(work);
        if (work_wanted(work) == 0)
            /* No look was made, since the runners are full. */
            wake_listener_put_back(&work->listener);
        if (finished(work))
            return;
        if (work_wanted(work) > 0 && !work_redis_is_away(work))
            wake_listener_wait(&work->listener);
        sleep_until_needed(work);
    }
}
