/* process.c: one worker process, from the supervisor's side. */
#include "supervisor/process.h"

#include "base/clock.h"
#include "log.h"

#include <event2/event.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MORE_SECONDS 0.005 /* after it was called: other queues of the same moment */
#define CONTROL_FD   3
#define STATUS_FD    4

struct generation *generation_new(struct config *config)
{
    struct generation *generation = calloc(1, sizeof *generation);

    if (generation)
        *generation = (struct generation){ .config = config, .users = 1 };
    return generation;
}

void generation_release(struct generation *generation)
{
    if (!generation || --generation->users > 0)
        return;
    config_free(generation->config);
    free(generation);
}

/* --- in the child --- */

void process_close_from(int first)
{
    syscall(SYS_close_range, (unsigned)first, ~0U, 0U); /* musl has no function for it */
}

static void process_reset_signals(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL); /* some cannot be set, which does no harm */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Keeps descriptors 0 to 2, puts the two pipes at 3 and 4, and closes everything else. */
static void keep_descriptors(int control, int status)
{
    int control_copy = fcntl(control, F_DUPFD, 16), status_copy = fcntl(status, F_DUPFD, 16);

    dup2(control_copy, CONTROL_FD);
    dup2(status_copy, STATUS_FD);
    process_close_from(STATUS_FD + 1);
    fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC);
    fcntl(STATUS_FD, F_SETFD, FD_CLOEXEC);
    fcntl(CONTROL_FD, F_SETFL, O_NONBLOCK);
    fcntl(STATUS_FD, F_SETFL, O_NONBLOCK);
}

static void process_run_child(const struct process *process, const struct process_options *options,
                              pid_t parent, int control, int status)
{
    const struct config *config = process->generation->config;
    struct worker_start start = { .config = config,
                                  .pool = process->pool,
                                  .slots = process->slots,
                                  .control_fd = CONTROL_FD,
                                  .status_fd = STATUS_FD,
                                  .host = options->host,
                                  .listens = options->listens,
                                  .quota = options->quota,
                                  .overlay = options->overlay };
    char name[32];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the supervisor died before the line above */
        _exit(0);
    setpgid(0, 0);
    slots_keep_only(process->slots);
    keep_descriptors(control, status);
    snprintf(name, sizeof name, "worker %d", process->number);
    prctl(PR_SET_NAME, name);
    log_open((enum log_level)config->log.level, config->log.json, name);
    log_limit(config->log.rate);
    exit(worker_main(&start));
}

/* --- in the supervisor --- */

/* Its last report may still be in the pipe. Of a worker that has ended, only the reason of a
 * refusal matters, which follows its byte in the same write. */
static void read_last_report(struct process *process)
{
    char report[1024], *refusal;
    ssize_t got;

    while ((got = read(process->status_fd, report, sizeof report - 1)) > 0) {
        report[got] = '\0';
        refusal = memchr(report, WORKER_REFUSED, (size_t)got);
        if (refusal)
            snprintf(process->refused, sizeof process->refused, "%s", refusal + 1);
    }
}

/* Once it is reaped, its number may be that of another group. */
int process_reap(struct process *process)
{
    int status = 0;

    kill(-process->pid, SIGKILL);
    waitpid(process->pid, &status, 0);
    read_last_report(process);
    return status;
}

/* Reports are one byte each. After WORKER_REFUSED the reason follows in the same write. */
static void on_status(evutil_socket_t fd, short what, void *arg)
{
    struct process *process = arg;
    char report[1024];
    ssize_t got = read(fd, report, sizeof report - 1);

    (void)what;
    if (got == 0)
        event_del(process->status); /* it has ended; SIGCHLD does the rest */
    for (ssize_t i = 0; i < got; i++) {
        if (report[i] == WORKER_REFUSED) {
            report[got] = '\0';
            snprintf(process->refused, sizeof process->refused, "%s", report + i + 1);
            return;
        }
        process->on_report(process->arg, process, report[i]);
    }
}

static int make_pipes(int control[2], int status[2], struct later_error *err)
{
    if (pipe2(control, O_CLOEXEC) < 0)
        return later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
    if (pipe2(status, O_CLOEXEC | O_NONBLOCK) < 0) {
        close(control[0]);
        close(control[1]);
        return later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
    }
    fcntl(control[1], F_SETFL, O_NONBLOCK);
    return 0;
}

static int watch_status(struct process *process, struct event_base *base)
{
    process->status = event_new(base, process->status_fd, EV_READ | EV_PERSIST, on_status, process);
    return process->status && event_add(process->status, NULL) == 0 ? 0 : -1;
}

/* Signals are blocked around the fork, so that the child never runs a handler of ours. */
pid_t process_fork(void)
{
    sigset_t all, before;
    pid_t pid;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        process_reset_signals();
    else
        sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* Makes its pipes and the child, and watches its status pipe. */
static int process_begin(struct process *process, const struct process_options *options,
                         struct later_error *err)
{
    int control[2], status[2];
    pid_t parent = getpid();

    if (make_pipes(control, status, err) < 0)
        return -1;
    process->control_fd = control[1];
    process->status_fd = status[0];
    /* The order is in the pipe before the worker starts, so it reserves nothing before it has read
     * it. */
    if (options->paused)
        process_order(process, WORKER_PAUSE);
    process->pid = process_fork();
    if (process->pid == 0)
        process_run_child(process, options, parent, control[0], status[1]);
    close(control[0]);
    close(status[1]);
    if (process->pid > 0 && watch_status(process, options->base) == 0)
        return 0;
    later_fail(err, LATER_E_SYSTEM, "cannot start a worker: %s", strerror(errno));
    close(control[1]);
    close(status[0]);
    return -1;
}

struct process *process_start(const struct process_options *options, struct later_error *err)
{
    const struct config *config = options->generation->config;
    struct process *process = calloc(1, sizeof *process);

    if (!process) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *process = (struct process){ .number = options->number,
                                 .generation = options->generation,
                                 .pool = options->pool,
                                 .on_report = options->on_report,
                                 .arg = options->arg,
                                 .started = later_clock() };
    /* Room for all event jobs and four batches: intake never has more under way. */
    process->slots = slots_create(options->page, config->events + 4 * LATER_BATCH_MAX, err);
    if (process->slots) {
        process->slots->worker = (uint32_t)options->number;
        atomic_store(&process->slots->page->awaited, options->listens);
    }
    if (!process->slots || process_begin(process, options, err) < 0)
        goto failed;
    setpgid(process->pid, process->pid); /* the child does the same; whichever is first */
    options->generation->users++;
    return process;

failed:
    slots_close(process->slots, true);
    free(process);
    return NULL;
}

void process_order(struct process *process, enum worker_order order)
{
    char byte = (char)order;

    (void)!write(process->control_fd, &byte, 1); /* if the worker is dead, SIGCHLD follows */
}

/* This is one write, which a pipe takes whole or not at all. WORKER_MOVED says what follows. */
void process_moved(struct process *process, const char *peer)
{
    char order[LATER_PEER_SIZE + 2];
    int len = snprintf(order, sizeof order, "%c%s\n", WORKER_MOVED, peer);

    (void)!write(process->control_fd, order, (size_t)len);
}

/* Returns false if the worker is dying, or does not read. */
static bool process_call(const struct process *process, const char *queue)
{
    char order[LATER_QUEUE_MAX + 3];
    int len = snprintf(order, sizeof order, "%c%s\n", WORKER_WAKE, queue);

    return write(process->control_fd, order, (size_t)len) == len;
}

bool process_wake(struct process *process, const char *queue)
{
    if (!slots_move_idle(process->slots, SLOTS_IDLE_FREE, SLOTS_IDLE_CALLED))
        return false;
    if (!process_call(process, queue)) {
        slots_move_idle(process->slots, SLOTS_IDLE_CALLED, SLOTS_IDLE_OFF);
        return false;
    }
    snprintf(process->called, sizeof process->called, "%s", queue);
    process->called_at = later_clock();
    process->called_more = 0;
    return true;
}

bool process_wake_more(struct process *process, const char *queue)
{
    if (process->called_more == WORKER_CALLS_MORE ||
        later_clock() - process->called_at > MORE_SECONDS || !slots_takes_more(process->slots) ||
        !process_call(process, queue))
        return false;
    process->called_more++;
    return true;
}

static void not_after(double *at, double when)
{
    if (*at <= 0 || when < *at)
        *at = when;
}

void process_drain(struct process *process, double drain, double grace, const char *why)
{
    double term_at = later_clock() + drain;

    if (process->draining)
        return;
    process->draining = true;
    process->drained = why;
    atomic_store(&process->slots->page->stopping, 1);
    process_order(process, WORKER_DRAIN);
    not_after(&process->term_at, term_at);
    not_after(&process->kill_at, term_at + grace);
}

void process_end(struct process *process, enum later_ending ending, const char *why, double grace)
{
    double now = later_clock();

    if (process->term_at > 0 && process->term_at <= now)
        return; /* it has had its TERM; process_tick() does the rest */
    process->term_at = now;
    not_after(&process->kill_at, now + grace);
    process->ending = ending;
    snprintf(process->why, sizeof process->why, "%s", why);
    kill(process->pid, SIGTERM);
}

void process_tick(struct process *process)
{
    double now = later_clock();

    if (process->term_at <= 0 || now < process->term_at)
        return;
    if (now >= process->kill_at) {
        kill(-process->pid, SIGKILL);
    } else if (!process->why[0]) {
        process->ending = LATER_ENDED_INTERRUPTED;
        snprintf(process->why, sizeof process->why, "%s", process->drained);
        kill(process->pid, SIGTERM);
    }
}

/* A TERM while it drains is meant for all of us: some stop a service by one to each process. */
enum later_ending process_ending(const struct process *process, int status)
{
    if (process->why[0])
        return process->ending;
    if (process->draining && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
        return LATER_ENDED_INTERRUPTED;
    return LATER_ENDED_CRASH;
}

/* Did it leave jobs that a handler had, or that waited for one? */
static bool left_jobs(const struct slots *slots)
{
    for (uint32_t i = 0; i < slots_used(slots); i++) {
        enum slot_state state = slot_state(&slots->page->slots[i]);

        if (state == SLOT_RUNNING || state == SLOT_HELD)
            return true;
    }
    return false;
}

bool process_crashed(const struct process *process, int status)
{
    if (process->why[0])
        return false;
    if (WIFSIGNALED(status))
        return WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM;
    return WEXITSTATUS(status) != 0 || left_jobs(process->slots);
}

void process_describe(const struct process *process, int status, char *text, size_t room)
{
    if (process->refused[0])
        snprintf(text, room, "%s", process->refused);
    else if (process->why[0])
        snprintf(text, room, "%s", process->why);
    else if (WIFSIGNALED(status))
        snprintf(text, room, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, room, "the worker exited with status %d", WEXITSTATUS(status));
}

void process_free(struct process *process)
{
    if (!process)
        return;
    event_free(process->status);
    close(process->control_fd);
    close(process->status_fd);
    generation_release(process->generation);
    free(process);
}

void process_kill_strays(bool (*known)(void *arg, pid_t pid), void *arg)
{
    char path[64];
    int pid;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    if (!file)
        return;
    while (fscanf(file, "%d", &pid) == 1) {
        if (!known(arg, pid))
            kill(pid, SIGKILL);
    }
    fclose(file);
}
