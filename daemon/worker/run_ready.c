/*
 * run_ready.c: jobs whose program is not ready yet.
 *
 * They take nothing before it is: what a limit has counted begins at once. Meanwhile the loop goes
 * on. Plugins have no way to call, so they are asked again and again.
 */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/run_inner.h"

#include "timer.h"

#include <math.h>

#define ASK_FIRST 0.001 /* seconds until they are asked again, */
#define ASK_LAST  0.020 /* and after many times */

static void run_wait_for(struct run *run, struct later_job *job)
{
    struct later_job **end = &run->unready;

    while (*end)
        end = &(*end)->next;
    job->next = NULL;
    *end = job;
    run->load.starting = true;
}

void run_await(struct later_job *job)
{
    struct run *run = job->worker->run;

    run->unready_wait = ASK_FIRST;
    timer_in(run->ready, ASK_FIRST);
    run_wait_for(run, job);
}

static void run_look_at(struct run *run, struct later_job *job)
{
    const struct worker *worker = run->worker;

    if (worker->draining || worker->paused || atomic_load(&job->slot->cancelled))
        run_passed(job, 0, "its program");
    else if (plugin_type_ready(job->type, job->doc.type))
        admission_ask(job);
    else
        run_wait_for(run, job);
}

void run_look_ready(void *arg)
{
    struct run *run = arg;
    struct later_job *job = run->unready, *next;

    run->unready = NULL;
    run->load.starting = false;
    for (; job; job = next) {
        next = job->next;
        job->next = NULL;
        run_look_at(run, job);
    }
    run->unready_wait = fmin(run->unready_wait * 2, ASK_LAST);
    if (run->unready)
        timer_in(run->ready, run->unready_wait);
    worker_pump_soon(run->worker); /* which also looks at other queues */
}
