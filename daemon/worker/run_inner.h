/* run_inner.h: what the files of run share: the stage's state. See run.h for who owns what. */
#ifndef LATERD_RUN_INNER_H
#define LATERD_RUN_INNER_H

#include "worker/run.h"

#define RUN_FINISHED 64 /* finished event jobs whose second finish is recognised */

struct run {
    struct worker *worker;
    struct run_load load;

    struct later_job *jobs;                   /* event jobs in flight */
    struct later_job *finished[RUN_FINISHED]; /* the last finished ones, owned */
    size_t next_finished;
    struct later_job *spare; /* room of one that has ended; or NULL */
    struct timer *watch;     /* set while any are in flight */

    struct later_job *passed, **passed_last; /* those that admission has let pass, in order */
    struct later_job *unready;               /* those whose program still starts, in order */
    double unready_wait;                     /* seconds until they are looked at again */
    struct timer *ready;
};

/* The job waits until its program is ready, and then goes to admission. */
void run_await(struct later_job *job);
/* The timer `ready`: asks again whether the programs of jobs are ready. arg: the run. */
void run_look_ready(void *arg);

/* Has the job waited for others, and is not known yet what it gets from them? */
bool run_lacks_values(const struct later_job *job);
/* Asks for that; then it proceeds. */
void run_ask_values(struct later_job *job);
void run_proceed(struct later_job *job);
/* Forgets it. */
void run_forget_values(struct later_job *job);

/* Its handler has ended: attempt_end(), and what may be ready by that is looked for. */
void run_end(struct later_job *job, uint32_t result, bool timed_out, double now);
/* The same for an event job whose handler has not: its struct waits for a late finish. */
void run_end_without(struct later_job *job, bool timed_out, double now);
/* Its handler has begun, and will finish it later. False without memory. */
bool run_start_event(struct later_job *job);
/* The timer `watch`: looks after event jobs. arg: the run. */
void run_watch(void *arg);
/* If nothing is under way any more, other jobs may begin again. */
void run_end_alone(struct run *run);

#endif
