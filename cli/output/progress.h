/*
 * progress.h: shows progress in a line on a terminal, and nothing elsewhere.
 */
#ifndef LATER_CLI_PROGRESS_H
#define LATER_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;     /* standard error is a terminal */
    uint64_t total; /* bytes; 0 = not known */
    double begun, drawn;
};

/* total: bytes to read; 0 = not known. */
void progress_begin(struct progress *progress, bool shown, uint64_t total);

/* Draws at most ten times a second. count: jobs so far; bytes: their bytes. */
void progress_show(struct progress *progress, uint64_t count, uint64_t bytes);

/* The same for jobs without bytes. total: 0 = not known. */
void progress_jobs(struct progress *progress, uint64_t count, uint64_t total);

/* Clears the line, so that a message can be printed. */
void progress_hide(struct progress *progress);

#endif
