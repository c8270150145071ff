/* supervisor_stop.c: reaping, pausing, stopping. */
#include "supervisor/supervisor_inner.h"

#include "base/clock.h"
#include "log.h"
#include "notify.h"
#include "queues/lookers.h"
#include "queues/overrides.h"
#include "timer.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTLE_SECONDS 5.0  /* for what the keeper still has to settle */
#define RECORD_SECONDS 1.0  /* then for the last counts */
#define SERVER_SECONDS 20.0 /* for the embedded server to end */

/* --- reaping --- */

static bool supervisor_stop_is_ours(void *arg, pid_t pid)
{
    const struct supervisor *supervisor = arg;

    return pid == supervisor->server ||
           (supervisor->checker && pid == checker_pid(supervisor->checker)) ||
           workers_has(supervisor->workers, pid);
}

static void server_ended(struct supervisor *supervisor, int status)
{
    supervisor->server = 0;
    if (supervisor->ending) {
        timer_in(supervisor->tick, 0);
        return;
    }
    log_line(LOG_ERROR, "the embedded redis-server ended (%s %d): starting it again",
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    timer_in(supervisor->server_timer,
             restart_after(&supervisor->server_restart, RESTART_CRASH, 0));
}

/* Returns a child that has ended and is still to be reaped; 0: there is none. */
static pid_t find_dead(void)
{
    siginfo_t info = { 0 };

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid : 0;
}

/* Returns whether it was a worker or an orphan of one: we are the subreaper. */
static bool supervisor_stop_reap(struct supervisor *supervisor, pid_t pid)
{
    int status = 0;

    if (workers_ended(supervisor->workers, pid))
        return true;
    waitpid(pid, &status, 0);
    if (pid == supervisor->server)
        server_ended(supervisor, status);
    else if (supervisor->checker && pid == checker_pid(supervisor->checker))
        checker_ended(supervisor->checker, status);
    else
        return true;
    return false;
}

void supervisor_on_child(evutil_socket_t fd, short what, void *arg)
{
    struct supervisor *supervisor = arg;
    bool strays = false;
    pid_t pid;

    (void)fd;
    (void)what;
    while ((pid = find_dead()) > 0)
        strays |= supervisor_stop_reap(supervisor, pid);
    if (strays)
        process_kill_strays(supervisor_stop_is_ours, supervisor);
}

/* --- pausing, stopping --- */

void supervisor_pause(struct supervisor *supervisor)
{
    bool paused = supervisor->paused || supervisor->quiet || supervisor->redis == UNFIT ||
                  !overrides_settled(supervisor->queues);

    if (paused != workers_paused(supervisor->workers))
        workers_pause(supervisor->workers, paused);
}

void supervisor_on_quieted(void *arg, const struct later_pause *pause)
{
    struct supervisor *supervisor = arg;

    supervisor->quiet = pause != NULL;
    if (pause)
        log_line(LOG_INFO, "quiet%s%s: nothing more is reserved until later resume --host %s%s",
                 pause->who[0] ? " by " : "", pause->who, supervisor->host,
                 pause->until > 0 ? ", or its time is over" : "");
    else
        log_line(LOG_INFO, "not quiet any more: going on");
    supervisor_pause(supervisor);
}

static void pause_workers(struct supervisor *supervisor)
{
    supervisor->paused = true;
    log_line(LOG_INFO, "paused: nothing more is reserved until CONT");
    supervisor_pause(supervisor);
}

static void resume_workers(struct supervisor *supervisor)
{
    if (!supervisor->paused)
        return;
    supervisor->paused = false;
    log_line(LOG_INFO, "going on");
    supervisor_pause(supervisor);
}

/* The kernel drops a pending TSTP when CONT comes, and the other way round. So the last one sent is
 * the last one read here. libevent's signals have no order. */
void supervisor_on_pausing(evutil_socket_t fd, short what, void *arg)
{
    struct signalfd_siginfo signal;

    (void)what;
    if (read(fd, &signal, sizeof signal) != (ssize_t)sizeof signal)
        return;
    if (signal.ssi_signo == SIGTSTP)
        pause_workers(arg);
    else
        resume_workers(arg);
}

static void retire_workers(struct supervisor *supervisor)
{
    workers_retire(supervisor->workers);
    timer_in(supervisor->tick, 0);
}

void supervisor_on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct supervisor *supervisor = arg;

    (void)fd;
    (void)what;
    if (supervisor->stopping)
        return;
    supervisor->stopping = true;
    notify_stopping();
    retire_workers(supervisor); /* who reads the line may rely on it */
    log_line(LOG_INFO, "stopping: %zu worker%s, at most %.0f s", workers_count(supervisor->workers),
             workers_count(supervisor->workers) == 1 ? " finishes its jobs" : "s finish their jobs",
             supervisor->generation->config->drain);
}

/* What runs is given back at once. */
void supervisor_on_quit(evutil_socket_t fd, short what, void *arg)
{
    struct supervisor *supervisor = arg;

    supervisor_on_stop(fd, what, supervisor);
    log_line(LOG_INFO, "quitting: jobs under way are given back");
    workers_quit(supervisor->workers);
}

/* Is something still to be settled, or the time not known in which it was counted? The migrator's
 * first answer tells it. */
static bool unsettled(const struct supervisor *supervisor, double redis_now)
{
    return keeper_open(supervisor->keeper) || (redis_now <= 0 && link_is_up(supervisor->link) &&
                                               recorder_lacks_time(supervisor->queues->recorder));
}

static void read_last_counts(void *arg, struct slots *slots)
{
    recorder_read(arg, slots, NULL);
}

/* Nothing of that is kept: the next laterd counts anew. */
static void tell_unwritten(const struct supervisor *supervisor)
{
    size_t queues = recorder_unwritten(supervisor->queues->recorder);

    if (queues > 0)
        log_line(LOG_WARN,
                 "the history of %zu queue%s lacks what was counted last: Redis did not take it",
                 queues, queues == 1 ? "" : "s");
}

/* The workers are gone. First what they held is settled, then the server ends, then we do. */
static bool wind_up(struct supervisor *supervisor)
{
    double now = later_clock(), redis_now = migrator_redis_now(supervisor->queues->migrator);

    if (supervisor->end_by <= 0)
        supervisor->end_by = now + SETTLE_SECONDS;
    if (!supervisor->ending) {
        if (!supervisor->recorded && now < supervisor->end_by && unsettled(supervisor, redis_now))
            return false;
        if (!supervisor->recorded) { /* the pages that are closed have been read */
            keeper_each_dead(supervisor->keeper, read_last_counts, supervisor->queues->recorder);
            recorder_end(supervisor->queues->recorder, redis_now);
            supervisor->recorded = true;
            supervisor->end_by = now + RECORD_SECONDS;
        }
        if (now < supervisor->end_by && recorder_open(supervisor->queues->recorder))
            return false;
        tell_unwritten(supervisor);
        lookers_leave(supervisor->queues);
        announce_withdraw(supervisor->announce); /* and both are sent */
        supervisor->ending = true;
        supervisor->end_by = now + SERVER_SECONDS;
        if (supervisor->server)
            kill(supervisor->server, SIGTERM);
    }
    if (supervisor->server && now > supervisor->end_by)
        kill(supervisor->server, SIGKILL);
    return supervisor->server == 0 && !announce_leaving(supervisor->announce);
}

/* Runs ten times a second while a process is ending. */
void supervisor_on_tick(void *arg)
{
    struct supervisor *supervisor = arg;

    workers_tick(supervisor->workers);
    if (supervisor->stopping && workers_count(supervisor->workers) == 0 && wind_up(supervisor)) {
        event_base_loopbreak(supervisor->base);
        return;
    }
    if (workers_count(supervisor->workers) > workers_seats(supervisor->workers) ||
        supervisor->stopping)
        timer_in(supervisor->tick, 0.1);
}
