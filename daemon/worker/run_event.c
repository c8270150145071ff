/* run_event.c: event jobs: begun by run.c, they are in flight until they finish or are over their
 * time. */
#include "worker/run_inner.h"

#include "base/clock.h"
#include "reservation/job.h"
#include "timer.h"
#include "worker/attempt.h"
#include "worker/intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_SECONDS 0.25

static void forget_event_job(struct run *run, struct later_job *job)
{
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    run->load.in_flight--;
    run_end_alone(run);
}

/* Asks the handler to stop; it has `grace` seconds to finish. */
static void cancel_event_job(struct later_job *job)
{
    job->cancel_sent = true;
    timer_in(job->timer, job->worker->config->grace);
    if (job->type->type.cancel)
        job->type->type.cancel(job); /* may finish it: job may be gone */
}

/* Its slot is another job's soon. */
void run_end_without(struct later_job *job, bool timed_out, double now)
{
    strcpy(job->late_id, job->id);
    memcpy(job->late_token, job->token, sizeof job->late_token);
    run_end(job, LATER_RETRY, timed_out, now);
    job->id = job->late_id;
    job->token = job->late_token;
}

static void on_job_timer(void *arg)
{
    struct later_job *job = arg;
    struct worker *worker = job->worker;

    if (!job->cancel_sent) {
        if (!job->error[0])
            snprintf(job->error, sizeof job->error, "over its time of %.3f s",
                     job->deadline - job->began);
        cancel_event_job(job);
    } else {
        forget_event_job(worker->run, job);
        run_end_without(job, true, later_clock());
    }
    worker_pump_soon(worker);
}

/* A finished event job's struct is kept for a while, so that a second finish finds something to be
 * refused by. */
static void remember_finished(struct run *run, struct later_job *job)
{
    struct later_job **oldest = &run->finished[run->next_finished++ % RUN_FINISHED];

    batch_release(job->batch);
    timer_free(job->timer);
    run_forget_values(job);
    job->batch = NULL;
    job->timer = NULL;
    job->document = job->doc.payload = "";
    job->document_len = job->doc.payload_len = job->checkpoint_len = job->log_len = 0;
    job->ended = true;
    free(*oldest);
    *oldest = job;
}

int run_finish(struct later_job *job, uint32_t result)
{
    struct worker *worker = job->worker;

    if (job->in_perform) { /* finished before perform has returned: it is told by run_one() */
        job->ended = true;
        job->result = result;
        return 0;
    }
    if (!job->slot) {
        attempt_log(job, LOG_WARN, "plugin %s finished it after its time was over: refused",
                    job->type->plugin);
        remember_finished(worker->run, job);
        return -1;
    }
    forget_event_job(worker->run, job);
    run_end(job, result, job->cancel_sent, later_clock());
    remember_finished(worker->run, job);
    worker_pump_soon(worker);
    return 0;
}

bool run_start_event(struct later_job *job)
{
    struct run *run = job->worker->run;

    job->timer = timer_new(job->worker->base, on_job_timer, job);
    if (!job->timer)
        return false;
    timer_in(job->timer, job->deadline - job->began);
    job->next = run->jobs;
    job->link = &run->jobs;
    if (job->next)
        job->next->link = &job->next;
    run->jobs = job;
    run->load.in_flight++;
    timer_soon(run->watch, WATCH_SECONDS); /* else short jobs would put it off */
    return true;
}

void run_stop(struct run *run)
{
    struct later_job *job = run->jobs;

    while (job) {
        if (job->told_stopping || job->cancel_sent || !job->type->type.stopping) {
            job = job->next;
            continue;
        }
        job->told_stopping = true;
        job->type->type.stopping(job);
        job = run->jobs; /* from the start again: it may have finished any of them */
    }
}

static struct later_job *withdrawn(const struct run *run)
{
    for (struct later_job *job = run->jobs; job; job = job->next) {
        if (!job->cancel_sent && atomic_load(&job->slot->cancelled))
            return job;
    }
    return NULL;
}

/* Shows the keeper that the loop turns, and tells handlers of withdrawn jobs. */
void run_watch(void *arg)
{
    struct run *run = arg;
    struct later_job *job;

    slots_beat(run->worker->slots);
    while ((job = withdrawn(run))) /* from the start again: a cancel may finish any of them */
        cancel_event_job(job);
    if (run->load.in_flight)
        timer_in(run->watch, WATCH_SECONDS);
}
