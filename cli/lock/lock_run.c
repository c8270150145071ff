/*
 * lock_run.c: a program under a lock.
 *
 * Nothing here waits for Redis while the program runs: a Redis that hangs must not keep us from
 * ending the program before the lock is another's.
 */
#include "lock/lock_run.h"

#include "work/child.h"
#include "base/clock.h"
#include "lock/lock_next.h"
#include "client/lock_wait.h"
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

enum loss { HELD, TAKEN_AWAY, CUT_OFF };

struct hold {
    struct cli *cli;
    const struct lock_order *order;
    struct later_redis *redis; /* the client's */
    char token[LATER_TOKEN_LEN + 1];
    struct later_locked locked; /* since: before the last renewal that worked was sent */
    double sent_at;             /* when the renewal under way was sent; later_clock(), like all */
    double touch_at;            /* the next one; INFINITY: one is under way */
    double kill_at;             /* INFINITY: never */
    enum loss loss;
    char why[160]; /* why the last renewal failed */
    int signals;   /* signalfd */
    int caught;    /* the last signal that asks for an end; 0 = none */
    pid_t pid;     /* 0 = not started */
    bool ended, terminal;
    int status; /* of waitpid() */
};

/* --- signals --- */

static const int passed_on[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* What was ignored when we were started (nohup) stays so, for the program too. The mask stays as it
 * is until the end; child_start() clears it for the program. */
static int catch_signals(struct hold *hold, struct later_error *err)
{
    struct sigaction before;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        if (sigaction(passed_on[i], NULL, &before) < 0 || before.sa_handler != SIG_IGN)
            sigaddset(&set, passed_on[i]);
    }
    hold->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGTTOU); /* we set the terminal's group, also when it is not ours */
    sigprocmask(SIG_BLOCK, &set, NULL);
    return hold->signals < 0 ? later_fail(err, LATER_E_SYSTEM, "signalfd: %s", strerror(errno)) : 0;
}

/* Gives the terminal to a group, if we have it: else a program that reads it would be stopped. */
static void give_terminal(const struct hold *hold, pid_t group)
{
    if (hold->terminal)
        tcsetpgrp(STDIN_FILENO, group);
}

/* The program was stopped by ^Z: so are we, that the shell goes on; and afterwards both do. */
static void stop_with_it(struct hold *hold)
{
    if (!hold->terminal || hold->loss != HELD)
        return;
    give_terminal(hold, getpgrp());
    raise(SIGSTOP);
    give_terminal(hold, hold->pid);
    child_signal(hold->pid, SIGCONT);
}

static void reap(struct hold *hold)
{
    int status;

    while (hold->pid && !hold->ended && waitpid(hold->pid, &status, WNOHANG | WUNTRACED) > 0) {
        if (WIFSTOPPED(status)) {
            stop_with_it(hold);
        } else {
            hold->status = status;
            hold->ended = true;
        }
    }
}

static void read_signals(struct hold *hold)
{
    struct signalfd_siginfo info;

    while (read(hold->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        hold->caught = (int)info.ssi_signo;
        if (hold->pid && !hold->ended)
            child_signal(hold->pid, hold->caught);
    }
    reap(hold);
}

/* --- keeping the lock --- */

/* When the program must be told to end, so that it is over when the ttl is. */
static double last_moment(const struct hold *hold)
{
    double ttl = hold->order->ttl;

    return hold->locked.since + ttl - fmin(GRACE, ttl / 6);
}

static void lose(struct hold *hold, enum loss how)
{
    double now = later_clock();

    if (hold->loss != HELD)
        return;
    hold->loss = how;
    hold->touch_at = INFINITY;
    hold->kill_at = how == CUT_OFF ? hold->locked.since + hold->order->ttl : now + GRACE;
    child_signal(hold->pid, SIGTERM);
    child_signal(hold->pid, SIGCONT); /* one that is stopped would not hear it */
    if (how == CUT_OFF)
        cli_say(hold->cli, "%s: lost, since Redis was not reached for %.3g seconds (%s); ending %s",
                hold->order->name, now - hold->locked.since, hold->why, hold->order->program[0]);
    else
        cli_say(hold->cli, "%s: lost, since it was not renewed in time; ending %s",
                hold->order->name, hold->order->program[0]);
}

static void take_touch(void *arg, struct later_answer *answer)
{
    struct hold *hold = arg;

    if (answer->outcome != LATER_ANSWERED) {
        snprintf(hold->why, sizeof hold->why, "%s", answer->text);
        hold->touch_at = later_clock() + fmin(0.5, hold->order->ttl / 12);
    } else if (later_lock_still(answer->reply)) {
        hold->locked.since = hold->sent_at;
        hold->touch_at = hold->sent_at + hold->order->ttl / 3;
    } else {
        lose(hold, TAKEN_AWAY);
    }
}

/* Renews the lock, connecting first. An answer that comes too late for us is given up. */
static void touch(struct hold *hold)
{
    const struct lock_order *order = hold->order;
    struct later_command cmd = { 0 };
    struct later_error err;
    double now = later_clock();

    if (hold->loss != HELD || now < hold->touch_at)
        return;
    if (later_redis_down(hold->redis) && later_redis_connect(hold->redis, &err) < 0) {
        snprintf(hold->why, sizeof hold->why, "%.150s", err.text);
        hold->touch_at = now + fmin(0.5, order->ttl / 12);
    }
    if (!later_redis_up(hold->redis))
        return;
    later_lock_touch(&cmd, later_call_prefix(hold->cli->client), order->name, hold->token,
                     order->ttl);
    hold->sent_at = now;
    hold->touch_at = INFINITY;
    if (later_redis_send(hold->redis, &cmd, LATER_SCRIPT_LOCK_TOUCH, fmin(2, order->ttl / 6 + 0.1),
                         take_touch, hold) < 0)
        hold->touch_at = now + fmin(0.5, order->ttl / 12);
}

/* Sleeps until Redis, a signal or the clock want something. */
static void rest(struct hold *hold)
{
    bool shaking = !later_redis_up(hold->redis) && !later_redis_down(hold->redis);
    struct pollfd polled[] = { { .fd = hold->signals, .events = POLLIN },
                               { .fd = later_redis_fd(hold->redis), .events = POLLIN } };
    double next = fmin(later_redis_deadline(hold->redis), hold->kill_at), wait;

    later_redis_flush(hold->redis);
    if (later_redis_wants_write(hold->redis))
        polled[1].events |= POLLOUT;
    if (hold->loss == HELD)
        next = fmin(next, last_moment(hold));
    if (!shaking)
        next = fmin(next, hold->touch_at);
    wait = fmin(fmax(next - later_clock(), 0), 3600);
    if (poll(polled, 2, (int)ceil(wait * 1000)) > 0 && polled[1].revents)
        later_redis_handle(hold->redis);
    later_redis_tick(hold->redis);
}

static void watch(struct hold *hold)
{
    while (!hold->ended) {
        read_signals(hold);
        if (hold->loss == HELD && later_clock() >= last_moment(hold))
            lose(hold, CUT_OFF);
        if (later_clock() >= hold->kill_at) {
            child_signal(hold->pid, SIGKILL);
            hold->kill_at = INFINITY;
        }
        if (hold->ended)
            return;
        touch(hold);
        rest(hold);
    }
}

/* --- the beginning and the end --- */

static void spell_owner(char *out, size_t room, const struct lock_order *order)
{
    char host[64] = "";

    gethostname(host, sizeof host - 1);
    snprintf(out, room, "%s:%ld %s", host, (long)getpid(), order->program[0]);
}

/* Returns LATER_LOCK_YES, LATER_LOCK_NO or -1. */
static int take(struct hold *hold, struct later_error *err)
{
    char owner[LATER_LOCK_OWNER_MAX + 1];
    struct later_lock_wish wish = { .name = hold->order->name,
                                    .token = hold->token,
                                    .owner = owner,
                                    .ttl = hold->order->ttl,
                                    .wait = hold->order->wait,
                                    .stop = hold->signals };

    spell_owner(owner, sizeof owner, hold->order);
    later_token(hold->token);
    return later_lock_wait(hold->cli->client, &wish, &hold->locked, err);
}

/* Gives it back. Returns false where it was not ours any more. */
static bool give_back(struct hold *hold)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    bool ours = true;

    later_lock_free(&cmd, later_call_prefix(hold->cli->client), hold->order->name, hold->token);
    reply = cli_call_once(hold->cli, &cmd, LATER_SCRIPT_LOCK_FREE, &err);
    if (reply)
        ours = later_lock_still(reply);
    if (reply && ours)
        lock_call_next(hold->cli, hold->order->name);
    if (!reply)
        cli_say(hold->cli, "%s: not given back; it ends by itself within %g seconds: %s",
                hold->order->name, hold->order->ttl, err.text);
    later_reply_free(reply);
    return ours;
}

static int start(struct hold *hold, struct later_error *err)
{
    char fence[24];
    struct child_variable variables[] = { { "LATER_LOCK_NAME", hold->order->name },
                                          { "LATER_LOCK_FENCE", fence },
                                          { NULL, NULL } };
    pid_t pid;

    snprintf(fence, sizeof fence, "%llu", (unsigned long long)hold->locked.fence);
    /* In a pipeline the terminal is the other programs', too. */
    hold->terminal = isatty(STDOUT_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    hold->touch_at = hold->locked.since + hold->order->ttl / 3;
    pid = child_start(hold->order->program, variables, NULL, 0, err);
    if (pid < 0)
        return -1;
    hold->pid = pid;
    give_terminal(hold, pid);
    if (hold->terminal)
        child_signal(pid, SIGCONT); /* it may have been quicker, and was stopped */
    return 0;
}

/* The program has ended. */
static int finish(struct hold *hold)
{
    int number = WIFSIGNALED(hold->status) ? WTERMSIG(hold->status) : 0;

    give_terminal(hold, getpgrp());
    if (hold->loss == CUT_OFF)
        return LATER_E_REDIS;
    if (hold->loss == TAKEN_AWAY)
        return LATER_E_TOKEN;
    if (!give_back(hold)) {
        cli_say(hold->cli, "%s: lost before %s ended (%s %d)", hold->order->name,
                hold->order->program[0], number ? "signal" : "status",
                number ? number : WEXITSTATUS(hold->status));
        return LATER_E_TOKEN;
    }
    return number ? LOCK_SIGNALLED + number : WEXITSTATUS(hold->status);
}

static int run(struct hold *hold, struct later_error *err)
{
    int how = take(hold, err);

    read_signals(hold);
    if (how < 0)
        return -1;
    if (hold->caught) {
        if (how == LATER_LOCK_YES)
            give_back(hold);
        return LOCK_SIGNALLED + hold->caught;
    }
    if (how == LATER_LOCK_NO) {
        cli_say(hold->cli, "%s: another has it", hold->order->name);
        return hold->order->busy;
    }
    if (start(hold, err) < 0) {
        bool missing = err->code == LATER_E_NONE;

        give_back(hold);
        if (missing)
            cli_say(hold->cli, "%s", err->text);
        return missing ? LOCK_NO_PROGRAM : -1;
    }
    watch(hold);
    return finish(hold);
}

int lock_run(struct cli *cli, const struct lock_order *order, struct later_error *err)
{
    struct hold hold = {
        .cli = cli, .order = order, .signals = -1, .kill_at = INFINITY, .touch_at = INFINITY
    };
    int status = -1;

    if (!cli_client(cli, err))
        return -1;
    hold.redis = later_call_redis(cli->client);
    if (catch_signals(&hold, err) == 0)
        status = run(&hold, err);
    if (hold.signals >= 0)
        close(hold.signals);
    return status;
}
