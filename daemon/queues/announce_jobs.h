/*
 * announce_jobs.h: tells, in our field of later:hosts, which jobs run here for the longest time.
 */
#ifndef LATERD_ANNOUNCE_JOBS_H
#define LATERD_ANNOUNCE_JOBS_H

#include "job/document.h"

#include <stdio.h>

#define ANNOUNCE_JOBS 10  /* more are not told */
#define ANNOUNCE_LONG 1.0 /* seconds that a job must have run */

/* Times are later_clock() seconds. */
struct announce_job {
    double began, timeout; /* timeout: seconds; 0 = none */
    uint32_t worker, attempt;
    char id[LATER_ID_MAX + 1], type[LATER_TYPE_MAX + 1];
    char queue[LATER_QUEUE_MAX + 1];
};

/* The longest first. */
struct announce_jobs {
    struct announce_job rows[ANNOUNCE_JOBS];
    uint32_t count;
};

/* Would a job that began then be among them? */
bool announce_jobs_wants(const struct announce_jobs *jobs, double began, double now);

/* Adds one. What a handler may have overwritten is checked: a job with a name that nobody could
 * have pushed is left out. */
void announce_jobs_add(struct announce_jobs *jobs, const struct announce_job *job);

/* Writes `,"jobs":[…]`, or nothing if there are none. redis_now: Redis's time at `now`. */
void announce_jobs_write(const struct announce_jobs *jobs, double now, double redis_now, FILE *out);

#endif
