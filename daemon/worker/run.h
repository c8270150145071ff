/*
 * run.h: one job: is it fit to run, its handler, its result.
 *
 *     run.c        from held to its handler
 *     run_ready.c  waiting for a program that starts
 *     run_event.c  event jobs in flight
 */
#ifndef LATERD_RUN_H
#define LATERD_RUN_H

#include "worker/state.h"

/* Takes one job a step further: a job that has all it needs begins, or else the first held one asks
 * for what it needs. Returns false if neither is possible. */
bool run_next(struct worker *worker);
/* Gives every job back that has not begun. */
void run_return_held(struct worker *worker);
/* Looks after event jobs: cancelled ones, late ones. */
void run_watch(struct worker *worker);
/* Asks again whether the programs of jobs are ready. arg: the worker. */
void run_look_ready(void *arg);
/* admission is done with a job (admission.h). */
void run_passed(struct later_job *job, double wait, const char *name);
/* later_job_finish(): 0, or -1 when its time was over before. */
int run_finish(struct later_job *job, uint32_t result);

/* --- between the files of run --- */

/* The job waits until its program is ready, and then goes to admission. */
void run_await(struct later_job *job);

/* Its handler has begun, and will finish it later. False without memory. */
bool run_start_event(struct later_job *job);
/* If nothing is under way any more, other jobs may begin again. */
void run_end_alone(struct worker *worker);

#endif
