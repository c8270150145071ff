/*
 * progress.h: how far it is, on a terminal; silent elsewhere.
 */
#ifndef LATER_CLI_PROGRESS_H
#define LATER_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;     /* is standard error a terminal? */
    uint64_t total; /* bytes; 0 = not known */
    double begun, drawn;
};

/* total: bytes that there are to read, 0 if nobody knows. */
void progress_begin(struct progress *progress, bool shown, uint64_t total);

/* Draws at most ten times a second. count: jobs; bytes: of them. */
void progress_show(struct progress *progress, uint64_t count, uint64_t bytes);

/* The same for jobs alone: so many of `total`, 0 if nobody knows. */
void progress_jobs(struct progress *progress, uint64_t count, uint64_t total);

/* Takes the line away, so that words may stand there. */
void progress_hide(struct progress *progress);

#endif
