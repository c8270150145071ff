/* serve.c: one `later serve`. */
#include "tasks/serve.h"

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

struct serve {
    struct event_base *base;
    const struct serve_program *program;
    struct bufferevent *bev; /* NULL = not started */
    struct event *patience, *fault;
    pid_t pid;
    bool busy;
    bool interrupted; /* it may not have handled the signal yet */
    size_t answered;  /* bytes of the present answer */
    double rest; /* seconds of patience after the first line; 0 = it has come, or none is needed */
    struct serve_answer answer;
};

/* --- its process --- */

/* Runs in the child, which becomes the other program. TERM stays blocked, since a command that can
 * be stopped takes it by sigtimedwait(). */
static void serve_become(const struct serve_program *program, int fd)
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

static void end_process(struct serve *serve)
{
    if (serve->bev)
        bufferevent_free(serve->bev); /* this also closes its socket */
    if (serve->pid > 0)
        kill(serve->pid, SIGKILL); /* killing it breaks nothing, since it holds nothing */
    serve->bev = NULL;
    serve->pid = 0;
    serve->interrupted = false;
}

static void readable(struct bufferevent *bev, void *arg);
static void broken(struct bufferevent *bev, short what, void *arg);

static int serve_start(struct serve *serve)
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
    serve->pid = fork();
    if (serve->pid == 0)
        serve_become(serve->program, pair[1]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(pair[1]);
    if (serve->pid > 0 && evutil_make_socket_nonblocking(pair[0]) == 0)
        serve->bev = bufferevent_socket_new(serve->base, pair[0], BEV_OPT_CLOSE_ON_FREE);
    if (!serve->bev) {
        close(pair[0]);
        end_process(serve);
        return -1;
    }
    bufferevent_setcb(serve->bev, readable, NULL, broken, serve);
    bufferevent_enable(serve->bev, EV_READ | EV_WRITE);
    return 0;
}

/* --- answers --- */

static void serve_end(struct serve *serve, int status, const char *rest)
{
    struct serve_answer answer = serve->answer;

    if (!serve->busy)
        return;
    serve->busy = false;
    evtimer_del(serve->patience);
    if (serve->interrupted)
        end_process(serve); /* otherwise the next order might be stopped by the signal */
    answer.end(answer.arg, status, rest);
}

static void serve_fail(struct serve *serve, enum later_code code, const char *why)
{
    char rest[256];

    end_process(serve);
    snprintf(rest, sizeof rest, "\"status\":%d,\"words\":\"%s\"}", (int)code, why);
    serve_end(serve, (int)code, rest);
}

static void be_patient(struct serve *serve, double seconds)
{
    struct timeval patience = { .tv_sec = (time_t)seconds,
                                .tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds))) };

    evtimer_add(serve->patience, &patience);
}

/* Takes a line. The last one of an answer is `\036{"status":0,"words":"…"}`. */
static void serve_take_line(struct serve *serve, const char *line, size_t len)
{
    const char *status;

    if (line[0] != END_MARK) {
        if (serve->busy && serve->rest > 0)
            be_patient(serve, serve->rest);
        serve->rest = 0;
        if (serve->busy)
            serve->answer.line(serve->answer.arg, line, len);
        return;
    }
    status = strstr(line, "\"status\":");
    serve_end(serve, status ? (int)strtol(status + strlen("\"status\":"), NULL, 10) : LATER_E_BUG,
              len > 2 ? line + 2 : "}");
}

static void readable(struct bufferevent *bev, void *arg)
{
    struct serve *serve = arg;
    size_t len;
    char *line;

    while (serve->bev == bev &&
           (line = evbuffer_readln(bufferevent_get_input(bev), &len, EVBUFFER_EOL_LF))) {
        serve->answered += len;
        serve_take_line(serve, line, len);
        free(line);
    }
    if (serve->bev == bev &&
        serve->answered + evbuffer_get_length(bufferevent_get_input(bev)) > ANSWER_MAX)
        serve_fail(serve, LATER_E_USAGE, "the answer is larger than 32 MiB: ask for fewer jobs");
}

static void broken(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    (void)what;
    serve_fail(
        arg, LATER_E_BUG,
        "the command could not be finished: `later serve` has ended; it may use 256 MiB of memory "
        "and 300 s of processor time");
}

static void out_of_patience(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    serve_fail(arg, LATER_E_REDIS, "Redis does not answer in time");
}

static void not_started(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    serve_fail(arg, LATER_E_SYSTEM, "`later serve` cannot be started");
}

void serve_words(const char *rest, char words[SERVE_WORDS])
{
    const char *from = strstr(rest, "\"words\":");
    int len = from ? (int)strlen(from + 8) - 1 : 0;

    if (len >= 2 && len < SERVE_WORDS)
        snprintf(words, SERVE_WORDS, "%.*s", len, from + 8);
    else
        snprintf(words, SERVE_WORDS, "\"Redis cannot be asked\"");
}

/* --- orders --- */

/* Returns the order as a line of JSON, or NULL without memory. */
static char *serve_line_of(const struct order *order)
{
    char *line = NULL;
    size_t len;
    FILE *out = open_memstream(&line, &len);

    if (!out)
        return NULL;
    jsonl_list(out, order->words, order->count);
    putc('\n', out);
    return jsonl_written(out, &line);
}

void serve_order(struct serve *serve, const struct order *order, const struct serve_answer *answer)
{
    char *line = serve_line_of(order);

    serve->busy = true;
    serve->answered = 0;
    serve->rest = order->first > 0 ? order->patience : 0;
    serve->answer = *answer;
    if (!line || (!serve->bev && serve_start(serve) < 0) ||
        bufferevent_write(serve->bev, line, strlen(line)) < 0) {
        event_active(serve->fault, EV_TIMEOUT, 0);
    } else {
        allow_time(serve->pid, order->patience);
        be_patient(serve, order->first > 0 ? order->first : order->patience);
    }
    free(line);
}

void serve_interrupt(struct serve *serve)
{
    if (!serve->busy || serve->pid <= 0)
        return;
    serve->interrupted = true;
    kill(serve->pid, SIGTERM);
}

void serve_say_yes(struct serve *serve)
{
    if (serve->busy && serve->bev)
        bufferevent_write(serve->bev, "yes\n", 4);
}

void serve_stop(struct serve *serve)
{
    serve->busy = false;
    evtimer_del(serve->patience);
    end_process(serve);
}

bool serve_is_free(const struct serve *serve)
{
    return !serve->busy;
}

struct serve *serve_new(struct event_base *base, const struct serve_program *program)
{
    struct serve *serve = calloc(1, sizeof *serve);

    if (!serve)
        return NULL;
    *serve = (struct serve){ .base = base, .program = program };
    serve->patience = evtimer_new(base, out_of_patience, serve);
    serve->fault = evtimer_new(base, not_started, serve);
    if (serve->patience && serve->fault)
        return serve;
    serve_free(serve);
    return NULL;
}

void serve_free(struct serve *serve)
{
    if (!serve)
        return;
    end_process(serve);
    if (serve->patience)
        event_free(serve->patience);
    if (serve->fault)
        event_free(serve->fault);
    free(serve);
}
