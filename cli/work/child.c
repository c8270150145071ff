/* child.c: runs a program under `later lock` and `later work`. */
#include "work/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child. An error is reported through `failure`, which closes when the program
 * starts. */
static _Noreturn void become(char *const *program, const struct child_variable *variables,
                             int failure, pid_t parent)
{
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before we asked for a signal */
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (; variables->name; variables++)
        setenv(variables->name, variables->value, 1);
    execvp(program[0], program);
    (void)!write(failure, &errno, sizeof errno);
    _exit(127);
}

/* Waits until the program has started or failed to. Returns 0 or an errno. */
static int wait_for_start(int failure)
{
    int why = 0;
    ssize_t got;

    do
        got = read(failure, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof why ? why : 0;
}

static pid_t child_fork(char *const *program, const struct child_variable *variables,
                        const int failure[2], struct later_error *err)
{
    pid_t parent = getpid(), pid = fork();
    int why;

    if (pid == 0)
        become(program, variables, failure[1], parent);
    if (pid < 0)
        return later_fail(err, LATER_E_SYSTEM, "fork: %s", strerror(errno));
    setpgid(pid, pid); /* parent and child both do it, since either may come first */
    close(failure[1]);
    why = wait_for_start(failure[0]);
    if (!why)
        return pid;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return later_fail(err, LATER_E_NONE, "%s: %s", program[0], strerror(why));
}

pid_t child_start(char *const *program, const struct child_variable *variables,
                  struct later_error *err)
{
    int failure[2];
    pid_t pid;

    if (pipe2(failure, O_CLOEXEC) < 0)
        return later_fail(err, LATER_E_SYSTEM, "pipe: %s", strerror(errno));
    fflush(NULL); /* otherwise both would print what is in our buffers */
    pid = child_fork(program, variables, failure, err);
    close(failure[0]);
    return pid;
}

void child_signal(pid_t pid, int number)
{
    kill(-pid, number);
}

void child_describe(int status, char *out, size_t room)
{
    if (WIFSIGNALED(status))
        snprintf(out, room, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(out, room, "exit status %d", WEXITSTATUS(status));
}
