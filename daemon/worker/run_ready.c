/*
 * run_ready.c: jobs whose program is not ready yet.
 *
 * They take nothing before it is: what a limit has counted begins at once. Meanwhile the loop goes
 * on. Plugins have no way to call, so they are asked again and again.
 */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/run.h"

#include "timer.h"

#include <math.h>

#define ASK_FIRST 0.001 /* seconds until they are asked again, */
#define ASK_LAST  0.020 /* and after many times */

static void wait_for(struct worker *worker, struct later_job *job)
{
    struct later_job **end = &worker->unready;

    while (*end)
        end = &(*end)->next;
    job->next = NULL;
    *end = job;
}

void run_await(struct later_job *job)
{
    struct worker *worker = job->worker;

    worker->unready_wait = ASK_FIRST;
    timer_in(worker->ready, ASK_FIRST);
    wait_for(worker, job);
}

static void look(struct worker *worker, struct later_job *job)
{
    if (worker->draining || worker->paused || atomic_load(&job->slot->cancelled))
        run_passed(job, 0, "its program");
    else if (plugin_type_ready(job->type, job->doc.type))
        admission_ask(job);
    else
        wait_for(worker, job);
}

void run_look_ready(void *arg)
{
    struct worker *worker = arg;
    struct later_job *job = worker->unready, *next;

    worker->unready = NULL;
    for (; job; job = next) {
        next = job->next;
        job->next = NULL;
        look(worker, job);
    }
    worker->unready_wait = fmin(worker->unready_wait * 2, ASK_LAST);
    if (worker->unready)
        timer_in(worker->ready, worker->unready_wait);
    worker_pump_soon(worker); /* which also looks at other queues */
}
