/*
 * exec_child.h: start a program and be told of its end.
 */
#ifndef LATER_JOBS_EXEC_CHILD_H
#define LATER_JOBS_EXEC_CHILD_H

#include "exec.h"

#include <sys/types.h>

/* A started program. Descriptors are -1 where there is none. */
struct exec_child {
    pid_t pid;
    int pidfd;   /* readable when it has ended; -1: this system cannot tell */
    int input;   /* a long-lived one's standard input; non-blocking */
    int output;  /* what it writes to standard output and standard error; non-blocking */
    int answers; /* what a long-lived one writes to descriptor 3; non-blocking */
    int failure; /* why it could not be run, or nothing */
};

/* Starts a program with len bytes of `document` on standard input and nothing of ours but the
 * process group. Returns 0, or -1 with *end (EXEC_FAILED); exec_child_close() in any case. That it
 * could not be run is known only later, by exec_child_failed(). */
int exec_child_start(struct exec_child *child, const struct exec_program *program,
                     char *const *envp, const char *document, size_t len, struct exec_end *end);

/* Starts a long-lived program, with pipes for all four and a process group of its own. Returns as
 * exec_child_start() does. */
int exec_child_start_lines(struct exec_child *child, const struct exec_program *program,
                           char *const *envp, struct exec_end *end);

/* Sends it a signal; never one that could reach another process under its number. */
void exec_child_signal(const struct exec_child *child, int signal);

/* After its end: could it not be run? Then 1 with *end. */
int exec_child_failed(const struct exec_child *child, struct exec_end *end);

void exec_child_close(struct exec_child *child);

#endif
