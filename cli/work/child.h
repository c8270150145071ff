/*
 * child.h: runs a program under `later lock` and `later work`.
 */
#ifndef LATER_CLI_CHILD_H
#define LATER_CLI_CHILD_H

#include "later/error.h"

#include <stddef.h>
#include <sys/types.h>

/* A variable for its environment, besides ours. A NULL name ends a table of them. */
struct child_variable {
    const char *name, *value;
};

/* Starts program[0], found by $PATH, with our own standard input. It gets a process group of its
 * own, so that ^C on our terminal does not end it, and the signal settings with which we were
 * started. It is killed if we die. Returns its process id, or -1 with *err: LATER_E_NONE if it
 * cannot be run, LATER_E_SYSTEM. */
pid_t child_start(char *const *program, const struct child_variable *variables,
                  struct later_error *err);

/* Sends a signal to the program's whole process group. */
void child_signal(pid_t pid, int number);

/* Writes how it ended into out: "exit status 3", "killed by signal 9 (Killed)". */
void child_describe(int status, char *out, size_t room);

#endif
