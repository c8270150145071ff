/*
 * trace_plugin.c: handlers that write down when they began and ended, and do what their payload
 * says, much of which a handler should not.
 *
 *     B id attempt token start pid
 *     E id attempt token start end result pid
 *
 * One write each, with O_APPEND; times are of CLOCK_MONOTONIC, which all processes share and no
 * clock shift moves. The payload is a string: "ok", "sleep MS", "fail" (the first attempt only),
 * "bury", "crash", "crash MS", "abort", "exit", "kill", "hang" (blocks every signal), "fork"
 * (twice, out of the session), "leak MB", "close", "chdir", "stay" (until there is a file of the
 * trace's name and ".go"). MS: milliseconds first.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <later/job.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char trace_path[256];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wait_ms(long ms);

/* Waits if there is no descriptor, since no line may be missing here. */
static void append(const char *line, int len)
{
    int fd;

    while ((fd = open(trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) < 0) {
        if (errno != EMFILE)
            return;
        wait_ms(10);
    }
    (void)!write(fd, line, (size_t)len);
    close(fd);
}

static double begin(const struct later_job *job)
{
    char line[400];
    double start = now();

    append(line,
           snprintf(line, sizeof line, "B %s %u %s %.6f %d\n", later_job_id(job),
                    (unsigned)later_job_attempt(job), later_job_token(job), start, (int)getpid()));
    return start;
}

static void end(const struct later_job *job, double start, const char *result)
{
    char line[400];

    append(line, snprintf(line, sizeof line, "E %s %u %s %.6f %.6f %s %d\n", later_job_id(job),
                          (unsigned)later_job_attempt(job), later_job_token(job), start, now(),
                          result, (int)getpid()));
}

/* Splits the payload into a word and a number. */
static long command(const struct later_job *job, char word[16])
{
    size_t len;
    const char *payload = later_job_payload(job, &len);
    char text[64] = "";
    long number = 0;

    if (len > 2 && len < sizeof text)
        memcpy(text, payload + 1, len - 2);
    strcpy(word, "ok");
    sscanf(text, "%15s %ld", word, &number);
    return number;
}

static void wait_ms(long ms)
{
    double until = now() + (double)ms / 1000;

    while (now() < until) { /* a signal must not cut it short */
        double left = until - now();
        struct timespec t = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };

        if (left > 0)
            nanosleep(&t, NULL);
    }
}

static void stay(void)
{
    char path[sizeof trace_path + 4];

    snprintf(path, sizeof path, "%s.go", trace_path);
    while (access(path, F_OK) < 0)
        wait_ms(5);
}

static void crash(void)
{
    const struct rlimit none = { 0, 0 };

    setrlimit(RLIMIT_CORE, &none);
    raise(SIGSEGV);
}

static void hang(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (;;)
        pause();
}

/* A grandchild in a session of its own: neither our child nor of our process group. */
static void fork_twice(void)
{
    pid_t child = fork();

    if (child > 0) {
        wait_ms(20);
        return;
    }
    setsid();
    if (fork() == 0)
        sleep(3600);
    _exit(0);
}

static void leak(long mebibytes)
{
    size_t size = (size_t)mebibytes << 20;
    char *memory = malloc(size);

    if (memory)
        memset(memory, 1, size);
}

/* Does what ends the process, or nothing. */
static void misbehave(const struct later_job *job, double start, const char *word, long number)
{
    static const char *const deadly[] = { "crash", "abort", "exit", "kill", "hang" };

    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        if (strcmp(word, deadly[i]) != 0)
            continue;
        wait_ms(number);
        end(job, start, word);
        switch (i) {
        case 0:
            crash();
            return;
        case 1:
            abort();
        case 2:
            exit(0);
        case 3:
            kill(getpid(), SIGKILL);
            return;
        default:
            hang();
        }
    }
}

static enum later_result trace_perform(struct later_job *job)
{
    char word[16];
    long number = command(job, word);
    double start = begin(job);

    misbehave(job, start, word, number);
    if (strcmp(word, "sleep") == 0)
        wait_ms(number);
    if (strcmp(word, "stay") == 0)
        stay();
    if (strcmp(word, "fork") == 0)
        fork_twice();
    if (strcmp(word, "leak") == 0)
        leak(number);
    if (strcmp(word, "chdir") == 0 && chdir("/") == 0)
        setlocale(LC_ALL, "de_DE.UTF-8");
    if (strcmp(word, "bury") == 0 || (strcmp(word, "fail") == 0 && later_job_attempt(job) == 1)) {
        later_job_error(job, "told to %s", word);
        end(job, start, word[0] == 'b' ? "bury" : "retry");
        return word[0] == 'b' ? LATER_BURY : LATER_RETRY;
    }
    end(job, start, "ok");
    if (strcmp(word, "close") == 0)
        syscall(SYS_close_range, 0U, ~0U, 0U);
    return LATER_DONE;
}

/* --- the same for event jobs --- */

struct waiting {
    struct later_job *job;
    struct event *timer;
    double start;
    char word[16];
};

static void event_over(evutil_socket_t fd, short what, void *arg)
{
    struct waiting *waiting = arg;
    struct later_job *job = waiting->job;

    (void)fd;
    (void)what;
    misbehave(job, waiting->start, waiting->word, 0);
    end(job, waiting->start, "ok");
    event_free(waiting->timer);
    free(waiting);
    later_job_finish(job, LATER_DONE);
}

static enum later_result trace_event(struct later_job *job)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    struct timeval tv;
    long ms;

    if (!waiting)
        return LATER_RETRY;
    waiting->job = job;
    ms = command(job, waiting->word);
    waiting->start = begin(job);
    waiting->timer = evtimer_new(later_event_base(), event_over, waiting);
    tv = (struct timeval){ ms / 1000, ms % 1000 * 1000 };
    evtimer_add(waiting->timer, &tv);
    return LATER_DEFERRED;
}

static int trace_config(const char *key, const char *value, char *err, size_t n)
{
    if (strcmp(key, "file") != 0 || strlen(value) >= sizeof trace_path) {
        snprintf(err, n, "unknown key, or too long");
        return -1;
    }
    strcpy(trace_path, value);
    return 0;
}

static const struct later_type types[] = {
    { .name = "trace", .perform = trace_perform },
    { .name = "trace.other", .perform = trace_perform },
    { .name = "trace.lone", .perform = trace_perform },
    { .name = "trace.few", .perform = trace_perform },
    { .name = "trace.limited", .perform = trace_perform },
    { .name = "trace.event", .mode = LATER_EVENT, .perform = trace_event },
    { 0 }
};

LATER_PLUGIN(.name = "trace", .version = "1", .types = types, .config = trace_config);
