/* exec_process.c: starts, watches and ends a long-lived program. */
#include "exec_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TERM_GRACE 2.0 /* seconds between TERM and KILL */
#define READS_MAX  64  /* reads of its output per turn: more than a pipe holds */

void exec_process_say(void *arg, const char *line)
{
    const struct exec_program *program = arg;
    const char *text;
    enum later_level level = exec_output_level(line, &text);

    later_log("exec", level, "%s: %s", program->name, text);
}

struct exec_process *exec_process_new(void)
{
    struct exec_process *process = calloc(1, sizeof *process);

    if (process) {
        process->child = exec_no_child;
        process->answers.size = EXEC_LINE_MAX;
        process->output.size = EXEC_OUTPUT_MAX;
        process->tail = (struct exec_output){ .bytes = process->tail_bytes, .size = EXEC_TAIL };
    }
    return process;
}

void exec_process_free(struct exec_process *process)
{
    if (!process)
        return;
    exec_reader_free(&process->answers);
    exec_reader_free(&process->output);
    free(process);
}

bool exec_process_runs(const struct exec_process *process)
{
    return process->child.pid != -1;
}

/* It has begun with fresh pipes. */
static void exec_process_begin(struct exec_process *process, struct exec_throttle *throttle,
                               const struct exec_program *program)
{
    process->started = exec_now();
    process->quiet = !exec_throttle_tells(throttle, process->started);
    process->ready = process->listens = false;
    process->ahead = !program->hello && exec_process_write(process, "{", 1) == 1;
}

int exec_process_start(struct exec_process *process, struct exec_throttle *throttle,
                       const struct exec_program *program, struct exec_end *end)
{
    char **env = exec_env(program, NULL);
    int result;

    exec_reader_clear(&process->answers);
    exec_reader_clear(&process->output);
    exec_process_forget_tail(process);
    process->jobs = 0;
    if (!env) {
        *end = (struct exec_end){ .how = EXEC_FAILED, .code = ENOMEM, .step = "be started" };
        return -1;
    }
    result = exec_child_start_lines(&process->child, program, env, end);
    free(env);
    if (result == 0)
        exec_process_begin(process, throttle, program);
    else
        exec_child_close(&process->child);
    return result;
}

/* It has closed its input, as all that die do. */
static bool closed_input(const struct exec_process *process)
{
    struct pollfd input = { .fd = process->child.input, .events = POLLOUT };

    return poll(&input, 1, 0) == 1 && (input.revents & POLLERR);
}

bool exec_process_is_late(const struct exec_process *process, const struct exec_program *program)
{
    return !process->ready && exec_now() - process->started > (double)program->start_max;
}

bool exec_process_ready(struct exec_process *process, const struct exec_program *program)
{
    bool closed;

    if (process->ready && !process->quiet)
        return true;
    closed = closed_input(process);
    if (!process->ready && !program->hello)
        process->ready =
            closed || exec_process_unread(process) == 0 || exec_process_is_late(process, program);
    if (process->ready && !closed)
        process->quiet = false;
    return process->ready;
}

void exec_process_heard(struct exec_process *process, bool hello, bool stops)
{
    process->ready = process->ready || hello;
    process->stops = hello ? stops : process->stops;
    process->listens = true;
}

/* Looks for its end without reaping it. Returns what waitid(2) does; *info is 0 if it runs. */
static int exec_process_look(const struct exec_process *process, siginfo_t *info)
{
    *info = (siginfo_t){ .si_pid = 0 };
    return waitid(P_PID, (id_t)process->child.pid, info, WEXITED | WNOHANG | WNOWAIT);
}

bool exec_process_is_gone(const struct exec_process *process)
{
    siginfo_t info;

    return exec_process_look(process, &info) == 0 && info.si_pid != 0;
}

/* Its group is killed before it is reaped, so no other group can have its number yet. */
bool exec_process_ended(struct exec_process *process, struct exec_end *end)
{
    siginfo_t info;
    int result = exec_process_look(process, &info);

    if ((result == 0 && info.si_pid == 0) || (result == -1 && errno == EINTR))
        return false;
    *end = (struct exec_end){ .how = EXEC_LOST };
    if (result == 0) {
        kill(-process->child.pid, SIGKILL);
        waitpid(process->child.pid, NULL, 0);
        end->how = info.si_code == CLD_EXITED ? EXEC_EXITED : EXEC_KILLED;
        end->code = info.si_status;
    }
    exec_child_failed(&process->child, end);
    return true;
}

void exec_process_give_back(const struct exec_throttle *throttle, struct later_job *job,
                            double least)
{
    if (throttle->failures > 0)
        later_job_error(job, "%s", throttle->why);
    later_job_retry_in(job, exec_throttle_pause(throttle, exec_now(), least));
}

void exec_process_why(const struct exec_process *process, const struct exec_program *program,
                      const char *how, char why[EXEC_ERROR_MAX + 1])
{
    char reason[600];

    snprintf(reason, sizeof reason, "%s ends before it has read a job: %s", program->name, how);
    exec_output_text(why, EXEC_ERROR_MAX + 1, reason, &process->tail);
}

void exec_process_close(struct exec_process *process, bool performed, const char *why)
{
    exec_child_close(&process->child);
    exec_throttle_ended(&process->throttle, exec_now(), performed, why);
}

void exec_process_signal(const struct exec_process *process, int signal)
{
    kill(-process->child.pid, signal);
}

/* Writes, with SIGPIPE blocked. */
static ssize_t write_unsignalled(int fd, const char *bytes, size_t len)
{
    struct timespec at_once = { 0, 0 };
    sigset_t pipe_signal, before, pending;
    ssize_t n;
    int error;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    n = write(fd, bytes, len);
    error = errno;
    if (n == -1 && error == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

/* SIGPIPE is ignored in a worker, but a plugin should not rely on that. */
ssize_t exec_process_write(struct exec_process *process, const char *bytes, size_t len)
{
    struct sigaction action;
    bool ignored = sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    ssize_t n = ignored ? write(process->child.input, bytes, len)
                        : write_unsignalled(process->child.input, bytes, len);

    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

size_t exec_process_unread(const struct exec_process *process)
{
    int count = 0;

    if (process->child.input == -1 || ioctl(process->child.input, FIONREAD, &count) != 0)
        return 0;
    return (size_t)count;
}

void exec_process_close_input(struct exec_process *process)
{
    static const char rest[] = "\"id\":\"\",\"cancel\":true}\n";

    if (process->child.input != -1 && process->ahead)
        exec_process_write(process, rest, strlen(rest));
    process->ahead = false;
    if (process->child.input != -1)
        close(process->child.input);
    process->child.input = -1;
}

void exec_process_forget_tail(struct exec_process *process)
{
    process->tail.len = 0;
}

/* Reads once from its output, and keeps the last bytes. */
static enum exec_read exec_process_read_output(struct exec_process *process)
{
    struct exec_reader *reader = &process->output;
    size_t before = reader->end - reader->begin, after;
    enum exec_read got = exec_reader_read(reader, process->child.output);

    after = reader->end - reader->begin;
    if (after > before)
        exec_output_keep(&process->tail, reader->bytes + reader->end - (after - before),
                         after - before);
    return got;
}

static void exec_process_tell(const struct exec_process *process, char *line, exec_say *say,
                              void *arg)
{
    if (process->quiet)
        return;
    exec_output_plain(line);
    say(arg, line);
}

void exec_process_output(struct exec_process *process, bool all, exec_say *say, void *arg)
{
    enum exec_read got = EXEC_READ_NONE;
    char *line;
    bool cut;

    for (int i = 0; i < READS_MAX && process->child.output != -1; i++) {
        got = exec_process_read_output(process);
        while ((line = exec_reader_line(&process->output, &cut)))
            exec_process_tell(process, line, say, arg);
        if (got != EXEC_READ_SOME)
            break;
    }
    if ((all || got == EXEC_READ_END) && (line = exec_reader_rest(&process->output)))
        exec_process_tell(process, line, say, arg);
    if (got == EXEC_READ_END && process->child.output != -1) {
        close(process->child.output);
        process->child.output = -1;
    }
}

/* Throws its answers away, so that it can go on and end. */
static void drop_answers(struct exec_process *process)
{
    char bytes[4096];

    if (process->child.answers != -1 && read(process->child.answers, bytes, sizeof bytes) == 0) {
        close(process->child.answers);
        process->child.answers = -1;
    }
}

/* Waits at most 20 ms for output or its end. */
static void wait_a_little(struct exec_process *process, exec_say *say, void *arg)
{
    struct pollfd fds[] = { { .fd = process->child.pidfd, .events = POLLIN },
                            { .fd = process->child.answers, .events = POLLIN },
                            { .fd = process->child.output, .events = POLLIN } };

    poll(fds, 3, 20);
    exec_process_output(process, false, say, arg);
    drop_answers(process);
}

void exec_process_end(struct exec_process *process, double patience, exec_say *say, void *arg)
{
    double term_at = exec_now() + patience, kill_at = term_at + TERM_GRACE;
    struct exec_end end;
    bool term_sent = false;

    if (!exec_process_runs(process))
        return;
    exec_process_close_input(process);
    while (!exec_process_ended(process, &end)) {
        if (exec_now() >= kill_at) {
            exec_process_signal(process, SIGKILL);
        } else if (!term_sent && exec_now() >= term_at) {
            exec_process_signal(process, SIGTERM);
            term_sent = true;
        }
        wait_a_little(process, say, arg);
    }
    exec_process_output(process, true, say, arg);
    exec_process_close(process, true, "");
}
