/*
 * child.h: running somebody's program for a job.
 */
#ifndef LATER_CLI_CHILD_H
#define LATER_CLI_CHILD_H

#include "later/error.h"

#include <stddef.h>
#include <sys/types.h>

/* A variable for its environment, besides ours. A table ends with a name of NULL. */
struct child_variable {
    const char *name, *value;
};

/* Starts program[0], found by $PATH, with `len` bytes of input on its standard input (NULL: with
 * our own standard input), in a process group of its own (so that ^C on our terminal does not end
 * it), with its signals as they were when we were started; it is killed if we die. Returns its
 * number; or -1 with *err: LATER_E_NONE where it cannot be run, LATER_E_SYSTEM. */
pid_t child_start(char *const *program, const struct child_variable *variables, const char *input,
                  size_t len, struct later_error *err);

/* Sends a signal to it and all of its group. */
void child_signal(pid_t pid, int number);

/* How it ended, in words: "exit status 3", "killed by signal 9 (Killed)". Into out. */
void child_describe(int status, char *out, size_t room);

#endif
