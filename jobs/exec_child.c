/*
 * exec_child.c: starts a program.
 *
 * A single job's document is handed over as a sealed file in memory (memfd_create(2)), not through
 * a pipe. The program may read it late, in part or never, and nothing has to be written meanwhile.
 * So there is no deadlock at any size, and no SIGPIPE.
 */
#include "exec_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum { ANSWERS = 3, FIRST = 4, LAST_CLOSED = 65535 };

/* What the child reports before it gives up. A few bytes through a pipe arrive whole. */
struct failure {
    int step;
    int error;
};

enum step { STEP_PARENT, STEP_PRIVILEGES, STEP_FILES, STEP_DIR, STEP_RUN };
static const char *const step_text[] = { "watch its parent", "drop privileges", "set up its files",
                                         "enter its directory", "be run" };

struct start {
    const struct exec_program *program;
    char *const *envp;
    pid_t parent;
    int in, out, answers, failure; /* answers: -1 = none; out: -1 = ours */
    bool leads;                    /* it leads a process group of its own */
};

double exec_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static _Noreturn void exec_child_give_up(const struct start *start, enum step step)
{
    struct failure failure = { .step = (int)step, .error = errno };
    ssize_t n = write(start->failure, &failure, sizeof failure);

    _exit(n == (ssize_t)sizeof failure ? 127 : 126);
}

/* Marks all descriptors from `first` on to be closed by execve(). They stay open until then, so
 * that a failure can still be reported. */
static void close_others(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
#endif
    for (int fd = first; fd <= LAST_CLOSED; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Resets all signal dispositions, since an ignored signal would stay ignored in the program. Those
 * that cannot be changed are refused, which does no harm. */
static void exec_child_reset_signals(void)
{
    struct sigaction action;
    sigset_t none;

    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        sigaction(signal, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Runs in the child. Only async-signal-safe calls are allowed, since the worker may have threads.
 * The child dies with the worker. A program for a single job stays in the worker's process group,
 * which the supervisor kills when a job hangs. A long-lived program leads its own group, which we
 * kill. */
static _Noreturn void exec_child_run(const struct start *start)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        exec_child_give_up(start, STEP_PARENT);
    if (getppid() != start->parent) /* the worker died before we asked for a signal */
        _exit(127);
    if (start->leads)
        setpgid(0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        exec_child_give_up(start, STEP_PRIVILEGES);
    if (dup2(start->in, STDIN_FILENO) == -1 ||
        (start->out != -1 &&
         (dup2(start->out, STDOUT_FILENO) == -1 || dup2(start->out, STDERR_FILENO) == -1)) ||
        (start->answers != -1 && dup2(start->answers, ANSWERS) == -1))
        exec_child_give_up(start, STEP_FILES);
    close_others(start->answers == -1 ? ANSWERS : FIRST);
    if (chdir(start->program->dir) != 0)
        exec_child_give_up(start, STEP_DIR);
    exec_child_reset_signals();
    execve(start->program->argv[0], start->program->argv, start->envp);
    exec_child_give_up(start, STEP_RUN);
}

/* Moves a descriptor above 3, so that dup2() in the child does not overwrite it. */
static int above_3(int fd)
{
    int moved;

    if (fd == -1 || fd >= FIRST)
        return fd;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST);
    close(fd);
    return moved;
}

/* Makes a pipe above 3. Our end of it, `ours`, does not block. */
static int make_pipe(int *read_end, int *write_end, const int *ours)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    *read_end = above_3(ends[0]);
    *write_end = above_3(ends[1]);
    if (*read_end == -1 || *write_end == -1)
        return -1;
    return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

/* Makes a read-only file in memory with these bytes. Returns a descriptor, or -1 with errno. */
static int exec_child_make_document(const char *bytes, size_t len)
{
    int fd = above_3(memfd_create("job", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    size_t done = 0;

    if (fd == -1)
        return -1;
    while (done < len) {
        ssize_t n = write(fd, bytes + done, len - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    if (done == len && lseek(fd, 0, SEEK_SET) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Forks with all signals blocked, so that no handler of the worker runs in the child. */
static pid_t fork_quietly(const struct start *start)
{
    sigset_t all, before;
    pid_t pid;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        exec_child_run(start);
    error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* Forks, and then closes the program's ends of the pipes, which are in *start. */
static int exec_child_start_child(struct exec_child *child, struct start *start,
                                  struct exec_end *end)
{
    int theirs[] = { start->in, start->out, start->answers, start->failure };

    if (!end->step && (child->pid = fork_quietly(start)) == -1)
        end->step = "be started";
    end->code = errno;
    if (child->pid != -1) {
        child->pidfd = open_pidfd(child->pid);
        if (start->leads)
            /* Parent and child both do it, since either may come first. */
            setpgid(child->pid, child->pid);
    }
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        if (theirs[i] != -1)
            close(theirs[i]);
    }
    return child->pid == -1 ? -1 : 0;
}

const struct exec_child exec_no_child = {
    .pid = -1, .pidfd = -1, .input = -1, .output = -1, .answers = -1, .failure = -1
};

static struct start exec_child_begin(struct exec_child *child, const struct exec_program *program,
                                     char *const *envp, struct exec_end *end)
{
    *child = exec_no_child;
    *end = (struct exec_end){ .how = EXEC_FAILED };
    return (struct start){ .program = program,
                           .envp = envp,
                           .parent = getpid(),
                           .in = -1,
                           .out = -1,
                           .answers = -1,
                           .failure = -1 };
}

int exec_child_start(struct exec_child *child, const struct exec_program *program,
                     char *const *envp, const char *document, size_t len, struct exec_end *end)
{
    struct start start = exec_child_begin(child, program, envp, end);

    start.in = exec_child_make_document(document, len);
    if (start.in == -1)
        end->step = "get its document";
    else if ((!program->inherit && make_pipe(&child->output, &start.out, &child->output) != 0) ||
             make_pipe(&child->failure, &start.failure, &child->failure) != 0)
        end->step = "get a pipe";
    return exec_child_start_child(child, &start, end);
}

int exec_child_start_lines(struct exec_child *child, const struct exec_program *program,
                           char *const *envp, struct exec_end *end)
{
    struct start start = exec_child_begin(child, program, envp, end);

    start.leads = true;
    if (make_pipe(&start.in, &child->input, &child->input) != 0 ||
        make_pipe(&child->output, &start.out, &child->output) != 0 ||
        make_pipe(&child->answers, &start.answers, &child->answers) != 0 ||
        make_pipe(&child->failure, &start.failure, &child->failure) != 0)
        end->step = "get a pipe";
    return exec_child_start_child(child, &start, end);
}

void exec_child_signal(const struct exec_child *child, int signal)
{
#ifdef SYS_pidfd_send_signal
    if (child->pidfd != -1) {
        syscall(SYS_pidfd_send_signal, child->pidfd, signal, NULL, 0);
        return;
    }
#endif
    kill(child->pid, signal); /* it is not reaped yet, so no other process can have its id */
}

void exec_child_failed(const struct exec_child *child, struct exec_end *end)
{
    struct failure failure;

    if (read(child->failure, &failure, sizeof failure) == (ssize_t)sizeof failure)
        *end = (struct exec_end){ .how = EXEC_FAILED,
                                  .code = failure.error,
                                  .step = step_text[failure.step] };
}

void exec_child_close(struct exec_child *child)
{
    int ours[] = { child->pidfd, child->input, child->output, child->answers, child->failure };

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (ours[i] != -1)
            close(ours[i]);
    }
    *child = exec_no_child;
}
