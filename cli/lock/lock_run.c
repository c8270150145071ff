/*
 * lock_run.c: runs a program under a lock.
 *
 * Nothing here waits for Redis while the program runs. If Redis hangs, the program must still be
 * ended before somebody else can get the lock.
 */
#include "lock/lock.h"

#include "work/child.h"
#include "base/clock.h"
#include "client/lock_wait.h"
#include "queue/line.h"
#include "queue/queue.h"
#include "redis/script.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE 2.0 /* seconds from TERM to KILL when the lock is lost */
#define AGAIN 0.5 /* seconds until a renewal or a connection is tried again, at most */
#define TRIES 100 /* jobs in the line that no longer exist, and are skipped */

enum loss { HELD, TAKEN_AWAY, CUT_OFF };

struct run {
    struct cli *cli;
    const struct lock_order *order;
    struct later_redis *redis; /* the client's */
    char token[LATER_TOKEN_LEN + 1];
    /* `since` is the time just before the last successful renewal was sent. */
    struct later_locked locked;
    double sent_at;  /* when the present renewal was sent; later_clock(), as are the others */
    double touch_at; /* the next renewal; INFINITY = one has been sent */
    double dial_at;  /* no connection is tried before this */
    double kill_at;  /* INFINITY = never */
    enum loss loss;
    char why[160]; /* why the last renewal failed; "" = none could be sent */
    int signals;   /* signalfd */
    int caught;    /* the last signal that asks us to end; 0 = none */
    pid_t pid;     /* 0 = not started */
    bool ended, terminal;
    int status; /* from waitpid() */
};

/* --- signals --- */

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* Signals that were ignored when we were started (nohup) stay ignored, for the program too. The
 * mask stays until the end. child_start() clears it for the program. */
static int lock_run_catch_signals(struct run *run, struct later_error *err)
{
    struct sigaction before;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        if (sigaction(passed_on[i], NULL, &before) < 0 || before.sa_handler != SIG_IGN)
            sigaddset(&set, passed_on[i]);
    }
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    /* We set the terminal's group even when another group has the terminal. */
    sigaddset(&set, SIGTTOU);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return run->signals < 0 ? later_fail(err, LATER_E_SYSTEM, "signalfd: %s", strerror(errno)) : 0;
}

/* Gives the terminal to a group if it is ours to give. Without it, a program that reads from it
 * would be stopped. */
static void give_terminal(const struct run *run, pid_t group)
{
    if (run->terminal)
        tcsetpgrp(STDIN_FILENO, group);
}

/* The program was stopped by ^Z. We stop too, so that the shell goes on. Later both continue. */
static void stop_with_it(struct run *run)
{
    if (!run->terminal || run->loss != HELD)
        return;
    give_terminal(run, getpgrp());
    raise(SIGSTOP);
    give_terminal(run, run->pid);
    child_signal(run->pid, SIGCONT);
}

static void lock_run_reap(struct run *run)
{
    int status;

    while (run->pid && !run->ended && waitpid(run->pid, &status, WNOHANG | WUNTRACED) > 0) {
        if (WIFSTOPPED(status)) {
            stop_with_it(run);
        } else {
            run->status = status;
            run->ended = true;
        }
    }
}

static void lock_run_read_signals(struct run *run)
{
    struct signalfd_siginfo info;

    while (read(run->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        run->caught = (int)info.ssi_signo;
        if (run->pid && !run->ended)
            child_signal(run->pid, run->caught);
    }
    lock_run_reap(run);
}

/* --- keeping the lock --- */

/* Returns when the program must be told to end, to be gone before the ttl is over. */
static double last_moment(const struct run *run)
{
    double ttl = run->order->ttl;

    return run->locked.since + ttl - fmin(GRACE, ttl / 6);
}

static void lock_run_lose(struct run *run, enum loss how)
{
    double now = later_clock();

    if (run->loss != HELD)
        return;
    run->loss = how;
    run->touch_at = INFINITY;
    run->kill_at = how == CUT_OFF ? run->locked.since + run->order->ttl : now + GRACE;
    child_signal(run->pid, SIGTERM);
    child_signal(run->pid, SIGCONT); /* a stopped program would not get the signal */
    if (how == CUT_OFF)
        cli_say(run->cli, "%s: lost, since Redis was not reached for %.3g seconds (%s); ending %s",
                run->order->name, now - run->locked.since,
                run->why[0] ? run->why : later_call_why(run->cli->client), run->order->program[0]);
    else
        cli_say(run->cli, "%s: lost, since %s; ending %s", run->order->name,
                now - run->locked.since < run->order->ttl
                    ? "Redis has it no longer, though its time was not over"
                    : "it was not renewed in time",
                run->order->program[0]);
}

static double lock_run_again(const struct run *run)
{
    return later_clock() + fmin(AGAIN, run->order->ttl / 12);
}

static void take_touch(void *arg, struct later_answer *answer)
{
    struct run *run = arg;

    if (answer->outcome != LATER_ANSWERED) {
        snprintf(run->why, sizeof run->why, "%s", answer->text);
        run->touch_at = lock_run_again(run);
    } else if (later_lock_still(answer->reply)) {
        run->locked.since = run->sent_at;
        run->touch_at = run->sent_at + run->order->ttl / 3;
    } else {
        lock_run_lose(run, TAKEN_AWAY);
    }
}

/* Begins to connect if needed. A server that is not there may refuse at once, or a moment later. */
static bool lock_run_connected(struct run *run)
{
    struct later_error err;

    if (later_redis_down(run->redis) && later_clock() >= run->dial_at) {
        run->dial_at = lock_run_again(run);
        if (later_redis_connect(run->redis, &err) < 0)
            snprintf(run->why, sizeof run->why, "%.150s", err.text);
    }
    return later_redis_up(run->redis);
}

/* When lock_run_touch() has something to do; INFINITY while a connection is being made. */
static double lock_run_due(const struct run *run)
{
    if (later_redis_down(run->redis))
        return fmax(run->touch_at, run->dial_at);
    return later_redis_up(run->redis) ? run->touch_at : INFINITY;
}

/* Renews the lock, and connects first if needed. An answer that comes too late is given up. */
static void lock_run_touch(struct run *run)
{
    const struct lock_order *order = run->order;
    struct later_command cmd = { 0 };
    double now = later_clock();

    if (run->loss != HELD || now < run->touch_at)
        return;
    if (!lock_run_connected(run))
        return;
    later_lock_touch(&cmd, later_call_prefix(run->cli->client), order->name, run->token,
                     order->ttl);
    run->sent_at = now;
    run->touch_at = INFINITY;
    if (later_redis_send(run->redis, &cmd, fmin(2, order->ttl / 6 + 0.1), take_touch, run) < 0)
        run->touch_at = lock_run_again(run);
}

/* Sleeps until Redis, a signal or the clock needs something. */
static void lock_run_rest(struct run *run)
{
    struct pollfd polled[] = { { .fd = run->signals, .events = POLLIN },
                               { .fd = later_redis_fd(run->redis), .events = POLLIN } };
    double next = fmin(later_redis_deadline(run->redis), run->kill_at), wait;

    later_redis_flush(run->redis);
    if (later_redis_wants_write(run->redis))
        polled[1].events |= POLLOUT;
    if (run->loss == HELD)
        next = fmin(next, last_moment(run));
    next = fmin(next, lock_run_due(run));
    wait = fmin(fmax(next - later_clock(), 0), 3600);
    if (poll(polled, 2, (int)ceil(wait * 1000)) > 0 && polled[1].revents)
        later_redis_handle(run->redis);
    later_redis_tick(run->redis);
}

static void lock_run_watch(struct run *run)
{
    while (!run->ended) {
        lock_run_read_signals(run);
        if (run->loss == HELD && later_clock() >= last_moment(run))
            lock_run_lose(run, CUT_OFF);
        if (later_clock() >= run->kill_at) {
            child_signal(run->pid, SIGKILL);
            run->kill_at = INFINITY;
        }
        if (run->ended)
            return;
        lock_run_touch(run);
        lock_run_rest(run);
    }
}

/* --- the next job --- */

/* Calls the job that has waited longest; `gone`, which was called before it ("" = none), does not
 * come. Returns the answer, which has the job if there is one; NULL if Redis does not answer. */
static struct later_reply *lock_run_call(struct cli *cli, const char *name, const char *gone,
                                         struct later_called *job)
{
    const struct later_line line = { .what = LATER_LINE_LOCK, .max = 1, .name = name };
    struct later_command cmd = { 0 };
    struct later_line_answer answer;
    struct later_reply *reply;
    struct later_error ignored;

    later_line_ask(&cmd, later_call_prefix(cli->client), &line, 0, 0, gone);
    reply = cli_call_once(cli, &cmd, &ignored);
    later_line_answer(reply, &answer);
    *job = (struct later_called){ 0 };
    if (answer.called)
        later_line_called(reply, 0, job);
    return reply;
}

/* Returns false if the job does not come. */
static bool lock_run_hasten(struct cli *cli, const struct later_called *job)
{
    const char *id = strchr(job->waiter, ' ');
    char queue[LATER_QUEUE_MAX + 1];
    struct later_command cmd = { 0 };
    struct later_keys keys;
    struct later_error ignored;

    if (!id || (size_t)(id - job->waiter) >= sizeof queue)
        return false;
    snprintf(queue, sizeof queue, "%.*s", (int)(id - job->waiter), job->waiter);
    if (cli_keys(cli, queue, &keys, &ignored) < 0)
        return false;
    later_line_hasten(&cmd, &keys, job, id + 1);
    return cli_count(cli_call_once(cli, &cmd, &ignored)) != 0;
}

/* Makes the job that has waited longest for the free lock ready at once. Best effort: a job that is
 * not called looks again by itself. */
static void call_next(struct cli *cli, const char *name)
{
    struct later_reply *reply, *before = NULL;
    struct later_called job = { .waiter = "" };
    bool comes = false;

    for (int i = 0; i < TRIES && !comes && job.waiter; i++) {
        reply = lock_run_call(cli, name, job.waiter, &job);
        later_reply_free(before);
        before = reply;
        comes = job.waiter && lock_run_hasten(cli, &job);
    }
    later_reply_free(before);
}

/* --- the beginning and the end --- */

static void spell_owner(char *out, size_t room, const struct lock_order *order)
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(out, room, "%s:%ld %s", host, (long)getpid(), order->program[0]);
}

/* Returns LATER_LOCK_YES, LATER_LOCK_NO or -1. */
static int lock_run_take(struct run *run, struct later_error *err)
{
    char owner[LATER_LOCK_OWNER_MAX + 1];
    struct later_lock_wish wish = { .name = run->order->name,
                                    .token = run->token,
                                    .owner = owner,
                                    .ttl = run->order->ttl,
                                    .wait = run->order->wait,
                                    .stop = run->signals };

    spell_owner(owner, sizeof owner, run->order);
    later_token(run->token);
    return later_lock_wait(run->cli->client, &wish, &run->locked, err);
}

/* Gives the lock back. Returns false if it was no longer ours. */
static bool lock_run_give_back(struct run *run)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    bool ours = true;

    later_lock_free(&cmd, later_call_prefix(run->cli->client), run->order->name, run->token);
    reply = cli_call_once(run->cli, &cmd, &err);
    if (reply)
        ours = later_lock_still(reply);
    if (reply && ours)
        call_next(run->cli, run->order->name);
    if (!reply)
        cli_say(run->cli, "%s: not given back; it ends by itself within %g seconds: %s",
                run->order->name, run->order->ttl, err.text);
    later_reply_free(reply);
    return ours;
}

static int lock_run_start(struct run *run, struct later_error *err)
{
    char fence[24];
    struct child_variable variables[] = { { "LATER_LOCK_NAME", run->order->name },
                                          { "LATER_LOCK_FENCE", fence },
                                          { NULL, NULL } };
    pid_t pid;

    snprintf(fence, sizeof fence, "%llu", (unsigned long long)run->locked.fence);
    /* In a pipeline the terminal belongs to the other programs too. */
    run->terminal = isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    run->touch_at = run->locked.since + run->order->ttl / 3;
    pid = child_start(run->order->program, variables, err);
    if (pid < 0)
        return -1;
    run->pid = pid;
    give_terminal(run, pid);
    if (run->terminal)
        child_signal(pid, SIGCONT); /* it may have read from the terminal before it was given it,
                                       and been stopped */
    return 0;
}

/* Handles the end of the program. */
static int lock_run_finish(struct run *run)
{
    int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;

    give_terminal(run, getpgrp());
    if (run->loss == CUT_OFF)
        return LATER_E_REDIS;
    if (run->loss == TAKEN_AWAY)
        return LATER_E_TOKEN;
    if (!lock_run_give_back(run)) {
        cli_say(run->cli, "%s: lost before %s ended (%s %d)", run->order->name,
                run->order->program[0], number ? "signal" : "status",
                number ? number : WEXITSTATUS(run->status));
        return LATER_E_TOKEN;
    }
    return number ? LOCK_SIGNALLED + number : WEXITSTATUS(run->status);
}

static int run_program(struct run *run, struct later_error *err)
{
    int how = lock_run_take(run, err);

    lock_run_read_signals(run);
    if (how < 0)
        return -1;
    if (run->caught) {
        if (how == LATER_LOCK_YES)
            lock_run_give_back(run);
        return LOCK_SIGNALLED + run->caught;
    }
    if (how == LATER_LOCK_NO) {
        cli_say(run->cli, "%s: somebody else has it", run->order->name);
        return run->order->busy;
    }
    if (lock_run_start(run, err) < 0) {
        bool missing = err->code == LATER_E_NONE;

        lock_run_give_back(run);
        if (missing)
            cli_say(run->cli, "%s", err->text);
        return missing ? LOCK_NO_PROGRAM : -1;
    }
    lock_run_watch(run);
    return lock_run_finish(run);
}

int lock_run(struct cli *cli, const struct lock_order *order, struct later_error *err)
{
    struct run run = {
        .cli = cli, .order = order, .signals = -1, .kill_at = INFINITY, .touch_at = INFINITY
    };
    int status = -1;

    if (!cli_client(cli, err))
        return -1;
    run.redis = later_call_redis(cli->client);
    if (lock_run_catch_signals(&run, err) == 0)
        status = run_program(&run, err);
    if (run.signals >= 0)
        close(run.signals);
    return status;
}
