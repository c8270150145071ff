/*
 * exec_child.h: starts a program and notices its end.
 */
#ifndef LATER_JOBS_EXEC_CHILD_H
#define LATER_JOBS_EXEC_CHILD_H

#include "exec.h"

#include <sys/types.h>

/* A started program. Descriptors that do not exist are -1. */
struct exec_child {
    pid_t pid;
    int pidfd;   /* readable when it has ended; -1 if the system has no pidfd */
    int input;   /* standard input of a long-lived program; non-blocking */
    int output;  /* what it writes to standard output and standard error; non-blocking */
    int answers; /* descriptor 3 of a long-lived program; non-blocking */
    int failure; /* says why it could not be run; empty if it runs */
};

extern const struct exec_child exec_no_child;

/* Returns the seconds of a monotonic clock. */
double exec_now(void);

/* Starts a program with len bytes of `document` on standard input. It inherits nothing of ours but
 * the process group. Returns 0, or -1 with *end (EXEC_FAILED). exec_child_close() is due in both
 * cases. If the program cannot be run, only exec_child_failed() says so later. */
int exec_child_start(struct exec_child *child, const struct exec_program *program,
                     char *const *envp, const char *document, size_t len, struct exec_end *end);

/* Starts a long-lived program, with four pipes and a process group of its own. Returns as
 * exec_child_start() does. */
int exec_child_start_lines(struct exec_child *child, const struct exec_program *program,
                           char *const *envp, struct exec_end *end);

/* Sends a signal to it, never to another process that got its id. */
void exec_child_signal(const struct exec_child *child, int signal);

/* After its end: sets *end if it could not be run. */
void exec_child_failed(const struct exec_child *child, struct exec_end *end);

void exec_child_close(struct exec_child *child);

#endif
