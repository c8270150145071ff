/*
 * run.h: one job: is it fit to run, its handler, its result.
 *
 *     run.c        from held to its handler
 *     run_ready.c  waiting for a program that starts
 *     run_values.c what jobs get from those that they have waited for
 *     run_event.c  event jobs in flight
 *
 * A struct run owns every job from when it is taken from the held ones until it is settled, and
 * event jobs that finish late, until then. What others may know of that is in `load`.
 */
#ifndef LATERD_RUN_H
#define LATERD_RUN_H

#include "worker/state.h"

/* Makes the stage, with nothing in hand, and sets worker->load. The worker must have its event
 * base. NULL: no memory. */
struct run *run_new(struct worker *worker);
/* To be freed after the plugins, which may finish jobs until they are stopped, and before the event
 * base. NULL is fine. */
void run_free(struct run *run);

/* Takes one job a step further: a job that has all it needs begins, or else the first held one asks
 * for what it needs. Returns false if neither is possible. */
bool run_next(struct run *run);
/* Gives every job back that has not begun. */
void run_return_held(struct run *run);
/* admission is done with a job (admission.h). */
void run_passed(struct later_job *job, double wait, const char *name);
/* Tells the handlers of event jobs, each once, that laterd stops or is reloaded. */
void run_stop(struct run *run);
/* later_job_finish(): 0, or -1 when its time was over before. */
int run_finish(struct later_job *job, uint32_t result);

#endif
