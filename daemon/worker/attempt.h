/*
 * attempt.h: what an attempt leaves behind besides its settlement: its counts for the history, the
 * value that its handler gave back, its line in the log.
 */
#ifndef LATERD_ATTEMPT_H
#define LATERD_ATTEMPT_H

#include "history/tally.h"

#include "log.h"

struct later_job;
struct worker_type;

/* A line about the job; how long it has run is not said. */
void attempt_log(const struct later_job *job, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The job's slot has the outcome by now (job_settle), and is not settled yet: a value has to be
 * kept before, for we may die right behind. type: its counts; NULL, for want of memory: it is not
 * counted. seconds: how long it ran. Frees the job's value. */
void attempt_ended(struct later_job *job, struct worker_type *type,
                   enum later_attempt_outcome outcome, double seconds);

#endif
