/*
 * exec_run.c: reads a program's output, and ends it when its time is over.
 */
#include "exec_child.h"
#include "exec_term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_GRACE  2.0  /* seconds between TERM and KILL */
#define LOOK        0.25 /* seconds between two checks whether the job was cancelled */
#define LOOK_OFTEN  0.02 /* the same, if the program's end is only noticed by checking */
#define DRAIN_READS 64   /* reads after its end: more than a pipe holds */

struct run {
    struct later_job *job;
    struct exec_child child;
    struct exec_output *output;
    struct exec_end end;
    bool term_sent, kill_sent;
    double kill_at;
    struct exec_term term;
};

/* Reads once. Returns false if there is nothing to read for now. */
static bool exec_run_read_output(struct run *run)
{
    char bytes[16384];
    ssize_t n;

    if (run->child.output == -1)
        return false;
    n = read(run->child.output, bytes, sizeof bytes);
    if (n > 0) {
        exec_output_keep(run->output, bytes, (size_t)n);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(run->child.output);
        run->child.output = -1;
    }
    return false;
}

/* Has it ended? Then run->end says how, unless we ended it and have said so. */
static bool exec_run_ended(struct run *run)
{
    int status;
    pid_t pid = waitpid(run->child.pid, &status, WNOHANG);

    if (pid == 0 || (pid == -1 && errno == EINTR))
        return false;
    if (run->term_sent)
        return true;
    if (pid == -1) /* ECHILD: SIGCHLD is ignored here, or somebody else reaps every child */
        run->end.how = EXEC_LOST;
    else if (WIFSIGNALED(status))
        run->end = (struct exec_end){ .how = EXEC_KILLED, .code = WTERMSIG(status) };
    else
        run->end = (struct exec_end){ .how = EXEC_EXITED, .code = WEXITSTATUS(status) };
    return true;
}

static void exec_run_end_in_time(struct run *run)
{
    if (!run->term_sent) {
        if (later_job_time_left(run->job) <= 0)
            run->end.how = EXEC_TIMED_OUT;
        else if (later_job_cancelled(run->job) || exec_term_came(&run->term))
            run->end.how = EXEC_CANCELLED;
        else
            return;
        exec_child_signal(&run->child, SIGTERM);
        run->term_sent = true;
        run->kill_at = exec_now() + TERM_GRACE;
    } else if (!run->kill_sent && exec_now() >= run->kill_at) {
        exec_child_signal(&run->child, SIGKILL);
        run->kill_sent = true;
    }
}

/* Sleeps until there is output, the program has ended, or it is time to check again. */
static void wait_for_it(struct run *run)
{
    struct pollfd fds[] = { { .fd = run->child.output, .events = POLLIN },
                            { .fd = run->child.pidfd, .events = POLLIN },
                            { .fd = run->term_sent ? -1 : exec_term_fd(&run->term),
                              .events = POLLIN } };
    double wait = run->child.pidfd == -1 ? LOOK_OFTEN : LOOK;
    double left = wait;

    if (!run->term_sent)
        left = later_job_time_left(run->job);
    else if (!run->kill_sent)
        left = run->kill_at - exec_now();
    if (left < wait)
        wait = left > 0 ? left : 0;
    if (poll(fds, sizeof fds / sizeof *fds, (int)(wait * 1000) + 1) > 0 && fds[0].revents)
        exec_run_read_output(run);
}

struct exec_end exec_run(struct later_job *job, const struct exec_program *program,
                         char *const *envp, struct exec_output *output)
{
    struct run run = { .job = job, .output = output };
    size_t len;
    const char *document = later_job_document(job, &len);

    output->len = 0;
    exec_term_block(&run.term);
    if (exec_child_start(&run.child, program, envp, document, len, &run.end) == 0) {
        later_job_begun(job);
        while (!exec_run_ended(&run)) {
            exec_run_end_in_time(&run);
            wait_for_it(&run);
        }
        /* This is bounded, since the program's own children may go on writing. */
        for (int i = 0; i < DRAIN_READS && exec_run_read_output(&run); i++)
            ;
        if (!run.term_sent)
            exec_child_failed(&run.child, &run.end);
    }
    exec_child_close(&run.child);
    exec_term_unblock(&run.term);
    return run.end;
}
