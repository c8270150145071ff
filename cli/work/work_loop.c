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

static void reap(struct work *work)
{
    for (size_t i = 0; i < work->seat_count; i++) {
        struct seat *seat = &work->seats[i];

        if (seat->state == SEAT_RUNNING && waitpid(seat->pid, &seat->status, WNOHANG) > 0)
            seat->state = SEAT_ENDED;
    }
}

static void take_stop(struct work *work)
{
    size_t running = work_count(work, SEAT_RUNNING);

    work->stop++;
    if (work->stop == 1 && running > 0)
        cli_say(work->cli, "stopping: %zu still running; once more returns them", running);
    for (size_t i = 0; i < work->seat_count && work->stop > 1; i++) {
        seat_stop(&work->seats[i], SEAT_INTERRUPTED);
        if (work->stop > 2) /* a third one does not wait for the grace */
            work->seats[i].kill_at = 0;
    }
}

static void read_signals(struct work *work)
{
    struct signalfd_siginfo info;

    while (read(work->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            take_stop(work);
    }
    reap(work);
}

/* The mask stays as it is until the end; child_start() clears it for the programs. */
int work_catch_signals(struct work *work, struct later_error *err)
{
    struct sigaction hangup;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP); /* else nohup(1) started us */
    sigprocmask(SIG_BLOCK, &set, NULL);
    work->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return work->signals < 0 ? later_fail(err, LATER_E_SYSTEM, "signalfd: %s", strerror(errno)) : 0;
}

/* --- the loop --- */

static void settle(struct work *work)
{
    struct later_error err;

    for (size_t i = 0; i < work->seat_count && !work_redis_is_away(work); i++) {
        struct seat *seat = &work->seats[i];

        if (seat->state != SEAT_ENDED)
            continue;
        if (seat_settle(seat, &work->seating, &err) == 0) {
            work->retry_at = 0;
            work->more = true; /* for the seat that is free now */
            continue;
        }
        work_note_failure(work, &err);
        if (err.code != LATER_E_REDIS) {
            cli_say(work->cli, "%s: not settled; it comes back when its lease ends", seat->id);
            seat->state = SEAT_FREE;
        }
    }
}

static void watch_seats(struct work *work)
{
    struct later_error err;
    double now = later_clock();

    for (size_t i = 0; i < work->seat_count; i++) {
        struct seat *seat = &work->seats[i];

        seat_tick(seat, now);
        if (seat->state == SEAT_RUNNING && now >= seat->touch_at && !work_redis_is_away(work) &&
            seat_renew(seat, &work->seating, &err) < 0)
            work_note_failure(work, &err);
    }
}

/* Is there nothing left to do? */
static bool finished(struct work *work)
{
    if (work_count(work, SEAT_RUNNING) > 0)
        return false;
    if (work_count(work, SEAT_ENDED) > 0) { /* Redis is away: for a lease at most */
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
           (work->more || wakers_hold(&work->wakers) || later_clock() >= work->look_at);
}

/* Seconds until the loop has something to do by the clock. */
static double rest(const struct work *work)
{
    double now = later_clock(), next = now + 3600;
    bool away = work_redis_is_away(work);

    if (must_take(work))
        return 0;
    for (size_t i = 0; i < work->seat_count; i++)
        next = fmin(next, seat_next(&work->seats[i], away));
    if (away)
        next = fmin(next, work->retry_at);
    else if (work_wanted(work) > 0)
        next = fmin(next, work->look_at);
    return fmax(0, fmin(next, wakers_deadline(&work->wakers)) - now);
}

static void sleep_until_needed(struct work *work)
{
    struct pollfd polled[1 + WAKERS_MAX] = { { .fd = work->signals, .events = POLLIN } };
    size_t count = wakers_poll(&work->wakers, polled + 1);

    if (poll(polled, 1 + count, (int)ceil(rest(work) * 1000)) < 0)
        return; /* the signal is in the signalfd */
    wakers_handle(&work->wakers, polled + 1);
}

void work_loop(struct work *work)
{
    for (;;) {
        read_signals(work);
        settle(work);
        watch_seats(work);
        if (must_take(work))
            work_take(work);
        if (work_wanted(work) == 0)
            wakers_put_back(&work->wakers); /* not reached: the seats are full */
        if (finished(work))
            return;
        if (work_wanted(work) > 0 && !work_redis_is_away(work))
            wakers_wait(&work->wakers);
        sleep_until_needed(work);
    }
}
