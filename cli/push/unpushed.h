/*
 * unpushed.h: which lines of a file are not known to be pushed, so that the others need not be
 * pushed again. It has as many lines as are under way, some ten thousand at most (bulk.h), however
 * long the file is.
 */
#ifndef LATER_CLI_UNPUSHED_H
#define LATER_CLI_UNPUSHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero it first. */
struct unpushed {
    uint64_t *lines; /* in order, twice the number, and 1 more if it was dropped; owned */
    size_t count, room, dropped;
};

/* Adds a line, which must be behind all others. Returns 0, or -1 without memory. */
int unpushed_add(struct unpushed *unpushed, uint64_t line);

/* It is known now. */
void unpushed_drop(struct unpushed *unpushed, uint64_t line);

/* Are these lines, up to `last`, the last ones without a gap? `first` becomes the first of them, or
 * last + 1. */
bool unpushed_is_tail(const struct unpushed *unpushed, uint64_t last, uint64_t *first);

/* Writes a script for `sed -n` that prints these lines and all behind `last`. Returns malloc'ed
 * text, NULL without memory. */
char *unpushed_script(const struct unpushed *unpushed, uint64_t last);

void unpushed_free(struct unpushed *unpushed);

#endif
