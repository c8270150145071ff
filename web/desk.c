/* desk.c: one `later serve`. */
#include "desk.h"

#include "later/error.h"
#include "output/jsonl.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX (32UL << 20) /* bytes of an answer */
#define END_MARK   '\036'
#define MEMORY_MAX (256UL << 20) /* bytes of address space of a process */
#define CPU_MAX    300.0         /* seconds of processor time for an order */

/* With the address sanitizer a process needs terabytes of addresses. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#elif defined(__clang__)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

struct desk {
    struct event_base *base;
    const struct desk_program *program;
    struct bufferevent *bev; /* NULL = not started */
    struct event *patience, *fault;
    pid_t pid;
    bool busy;
    bool interrupted; /* it may not have handled the signal yet */
    size_t answered;  /* bytes of the present answer */
    double rest; /* seconds of patience after the first line; 0 = it has come, or none is needed */
    struct desk_answer answer;
};

/* --- its process --- */

/* Runs in the child, which becomes the other program. TERM stays blocked, since a command that can
 * be stopped takes it by sigtimedwait(). */
static void become(const struct desk_program *program, int fd)
{
    if (!SANITIZED)
        setrlimit(RLIMIT_AS, &(struct rlimit){ MEMORY_MAX, MEMORY_MAX });
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    if (dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
        execv(program->argv[0], program->argv);
    _exit(127);
}

/* From now on it may use so much more processor time. */
static void allow_time(pid_t pid, double seconds)
{
    struct timespec used;
    clockid_t clock;
    rlim_t most;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
        return;
    most = (rlim_t)(used.tv_sec + 1) + (rlim_t)(seconds < CPU_MAX ? seconds : CPU_MAX);
    prlimit(pid, RLIMIT_CPU, &(struct rlimit){ most, RLIM_INFINITY }, NULL);
}

static void end_process(struct desk *desk)
{
    if (desk->bev)
        bufferevent_free(desk->bev); /* this also closes its socket */
    if (desk->pid > 0)
        kill(desk->pid, SIGKILL); /* killing it breaks nothing, since it holds nothing */
    desk->bev = NULL;
    desk->pid = 0;
    desk->interrupted = false;
}

static void readable(struct bufferevent *bev, void *arg);
static void broken(struct bufferevent *bev, short what, void *arg);

static int start(struct desk *desk)
{
    sigset_t term, before;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    /* If a child got TERM before it became the other program, libevent's handler would run in it
     * and write to the pipe that it shares with us. So TERM is blocked. */
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    desk->pid = fork();
    if (desk->pid == 0)
        become(desk->program, pair[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (desk->pid > 0 && evutil_make_socket_nonblocking(pair[0]) == 0)
        desk->bev = bufferevent_socket_new(desk->base, pair[0], BEV_OPT_CLOSE_ON_FREE);
    if (!desk->bev) {
        close(pair[0]);
        end_process(desk);
        return -1;
    }
    bufferevent_setcb(desk->bev, readable, NULL, broken, desk);
    bufferevent_enable(desk->bev, EV_READ | EV_WRITE);
    return 0;
}

/* --- answers --- */

static void end(struct desk *desk, int status, const char *rest)
{
    struct desk_answer answer = desk->answer;

    if (!desk->busy)
        return;
    desk->busy = false;
    evtimer_del(desk->patience);
    if (desk->interrupted)
        end_process(desk); /* otherwise the next order might be stopped by the signal */
    answer.end(answer.arg, status, rest);
}

static void fail(struct desk *desk, enum later_code code, const char *why)
{
    char rest[256];

    end_process(desk);
    snprintf(rest, sizeof rest, "\"status\":%d,\"words\":\"%s\"}", (int)code, why);
    end(desk, (int)code, rest);
}

static void be_patient(struct desk *desk, double seconds)
{
    struct timeval patience = { .tv_sec = (time_t)seconds,
                                .tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds))) };

    evtimer_add(desk->patience, &patience);
}

/* Takes a line. The last one of an answer is `\036{"status":0,"words":"…"}`. */
static void take_line(struct desk *desk, const char *line, size_t len)
{
    const char *status;

    if (line[0] != END_MARK) {
        if (desk->busy && desk->rest > 0)
            be_patient(desk, desk->rest);
        desk->rest = 0;
        if (desk->busy)
            desk->answer.line(desk->answer.arg, line, len);
        return;
    }
    status = strstr(line, "\"status\":");
    end(desk, status ? (int)strtol(status + strlen("\"status\":"), NULL, 10) : LATER_E_BUG,
        len > 2 ? line + 2 : "}");
}

static void readable(struct bufferevent *bev, void *arg)
{
    struct desk *desk = arg;
    size_t len;
    char *line;

    while (desk->bev == bev &&
           (line = evbuffer_readln(bufferevent_get_input(bev), &len, EVBUFFER_EOL_LF))) {
        desk->answered += len;
        take_line(desk, line, len);
        free(line);
    }
    if (desk->bev == bev &&
        desk->answered + evbuffer_get_length(bufferevent_get_input(bev)) > ANSWER_MAX)
        fail(desk, LATER_E_DATA, "the answer is larger than 32 MiB: ask for fewer jobs");
}

static void broken(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    (void)what;
    fail(arg, LATER_E_BUG,
         "the command could not be finished: `later serve` has ended; it may use 256 MiB of memory "
         "and 300 s of processor time");
}

static void out_of_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    fail(arg, LATER_E_REDIS, "Redis does not answer in time");
}

static void not_started(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    fail(arg, LATER_E_SYSTEM, "`later serve` cannot be started");
}

/* --- orders --- */

/* Returns the order as a line of JSON, or NULL without memory. */
static char *line_of(const struct order *order)
{
    char *line = NULL;
    size_t len;
    FILE *out = open_memstream(&line, &len);

    if (!out)
        return NULL;
    jsonl_list(out, order->words, order->count);
    putc('\n', out);
    if (fclose(out) != 0) {
        free(line);
        return NULL;
    }
    return line;
}

void desk_order(struct desk *desk, const struct order *order, const struct desk_answer *answer)
{
    char *line = line_of(order);

    desk->busy = true;
    desk->answered = 0;
    desk->rest = order->first > 0 ? order->patience : 0;
    desk->answer = *answer;
    if (!line || (!desk->bev && start(desk) < 0) ||
        bufferevent_write(desk->bev, line, strlen(line)) < 0) {
        event_active(desk->fault, EV_TIMEOUT, 0);
    } else {
        allow_time(desk->pid, order->patience);
        be_patient(desk, order->first > 0 ? order->first : order->patience);
    }
    free(line);
}

void desk_interrupt(struct desk *desk)
{
    if (!desk->busy || desk->pid <= 0)
        return;
    desk->interrupted = true;
    kill(desk->pid, SIGTERM);
}

void desk_stop(struct desk *desk)
{
    desk->busy = false;
    evtimer_del(desk->patience);
    end_process(desk);
}

bool desk_is_free(const struct desk *desk)
{
    return !desk->busy;
}

struct desk *desk_new(struct event_base *base, const struct desk_program *program)
{
    struct desk *desk = calloc(1, sizeof *desk);

    if (!desk)
        return NULL;
    *desk = (struct desk){ .base = base, .program = program };
    desk->patience = evtimer_new(base, out_of_patience, desk);
    desk->fault = evtimer_new(base, not_started, desk);
    if (desk->patience && desk->fault)
        return desk;
    desk_free(desk);
    return NULL;
}

void desk_free(struct desk *desk)
{
    if (!desk)
        return;
    end_process(desk);
    if (desk->patience)
        event_free(desk->patience);
    if (desk->fault)
        event_free(desk->fault);
    free(desk);
}
