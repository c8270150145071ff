/*
 * exec_throttle.h: when a program may be started again, and how long its jobs pause. Pure.
 *
 * One that has died is started again at once; if it dies without having performed a job since,
 * after 0.1 s, 0.2 s … up to 5 s. A job that it has not read is given back, for the longer the
 * longer the program has been broken: so a broken one costs little however many jobs it has.
 */
#ifndef LATER_JOBS_EXEC_THROTTLE_H
#define LATER_JOBS_EXEC_THROTTLE_H

#include <stdbool.h>

/* Zeroed at first. Times are seconds of one clock. */
struct exec_throttle {
    unsigned failures; /* deaths in a row without a job in between */
    double since;      /* the first of them */
    double start_at;   /* not before */
    char why[300];     /* of the last one */
};

/* One has ended. `performed`: it had performed a job or was ended by us. why: how it ended. */
void exec_throttle_ended(struct exec_throttle *throttle, double now, bool performed,
                         const char *why);

/* How long a job pauses that is given back now: `least` seconds or more, until one may start, and a
 * quarter of the time for which none could, that at most 300 s. */
double exec_throttle_pause(const struct exec_throttle *throttle, double now, double least);

#endif
