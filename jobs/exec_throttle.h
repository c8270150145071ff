/*
 * exec_throttle.h: when a program may be started again, and how long its jobs pause. Pure.
 *
 * A program that has died is started again at once. If it dies again without having performed a
 * job, it is started after 0.1 s, 0.2 s … up to 5 s. A job that it has not read is returned. The
 * longer the program has been broken, the longer that job pauses, so a broken program costs little
 * however many jobs it has.
 */
#ifndef LATER_JOBS_EXEC_THROTTLE_H
#define LATER_JOBS_EXEC_THROTTLE_H

#include "exec_output.h"

#include <stdbool.h>

/* Begins zeroed. Times are seconds of one clock. */
struct exec_throttle {
    unsigned failures;            /* deaths in a row without a job in between */
    double since;                 /* time of the first of them */
    double start_at;              /* the earliest start */
    double told;                  /* when the output of one that died was logged last; 0 = never */
    char why[EXEC_ERROR_MAX + 1]; /* why it died last, for the jobs that it had not read */
};

/* Notes that a program has ended. `performed`: it had performed a job, or we ended it. why: how it
 * ended. */
void exec_throttle_ended(struct exec_throttle *throttle, double now, bool performed,
                         const char *why);

/* A program is started: may what it prints be logged? If the one before has died, only once a
 * minute. */
bool exec_throttle_tells(struct exec_throttle *throttle, double now);

/* Returns how long a job that is returned now should pause: at least `least` seconds, until a
 * program may start, and a quarter of the time that none could, at most 300 s. */
double exec_throttle_pause(const struct exec_throttle *throttle, double now, double least);

#endif
