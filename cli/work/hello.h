/*
 * hello.h: asks a program of handlers which types it performs. It is started as laterd starts it,
 * says so in its first line (later-job(3), section exec), finds no job, and ends.
 */
#ifndef LATER_CLI_HELLO_H
#define LATER_CLI_HELLO_H

#include "job/document.h"
#include "later/error.h"

#include <stdbool.h>

/* Starts `program` (its first word is its path) and waits at most a minute for its line. parallel:
 * how many jobs it may get at once; 0 = one. Returns the line, malloc'ed; or NULL with *err:
 * LATER_E_NONE if it said none, or one without types. */
char *hello_ask(char *const *program, int parallel, struct later_error *err);

/* Copies the i-th type (from 0) of a line into `type`. Returns false if there are no more. */
bool hello_type(const char *line, unsigned i, char type[LATER_TYPE_MAX + 1]);

#endif
