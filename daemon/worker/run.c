/* run.c: one job: find its handler, run it, turn the result into exactly one settlement. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/attempt.h"
#include "worker/intake.h"
#include "worker/run.h"

#include "base/clock.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_LEAST 5.0    /* seconds until another look for a type: a deploy may be under way */
#define UNKNOWN_MOST  3600.0 /* and at most, more and more */
#define UNKNOWN_QUIET 60.0   /* between two lines about one type */
#define SLOW          0.001  /* a type that takes longer does not make earlier acks wait */

/* --- held jobs --- */

static struct held take_held(struct worker *worker)
{
    struct held held = worker->held[worker->held_first];

    worker->held_first = (worker->held_first + 1) % worker->held_room;
    worker->held_count--;
    return held;
}

static void settle(struct worker *worker, struct slot *slot)
{
    atomic_store_explicit(&slot->state, SLOT_FINISHED, memory_order_release);
    outbox_add(worker->outbox, worker->slots, slot);
}

/* Settles a job that was never begun. */
static void settle_unrun(struct later_job *job, enum later_verb verb, double wait, const char *kind,
                         const char *text)
{
    slot_finish(job->slot, verb, wait, verb == LATER_VERB_BURY ? "unrun" : "", kind, text);
    settle(job->worker, job->slot);
}

static void return_held(struct worker *worker)
{
    while (worker->held_count) {
        struct held held = take_held(worker);

        batch_release(held.batch);
        if (!slot_move(held.slot, SLOT_HELD, SLOT_RUNNING))
            continue; /* the keeper gives it back */
        slot_finish(held.slot, LATER_VERB_RETURN, 0, "held", "", "");
        settle(worker, held.slot);
    }
}

/* --- what a job needs before it may run --- */

static struct worker_type *type_of(struct worker *worker, const struct plugin_type *type)
{
    struct worker_type *types;

    for (size_t i = 0; i < worker->type_count; i++) {
        if (worker->types[i].type == type)
            return &worker->types[i];
    }
    types = realloc(worker->types, (worker->type_count + 1) * sizeof *types);
    if (!types)
        return NULL;
    worker->types = types;
    types[worker->type_count] = (struct worker_type){ .type = type, .average = SLOW };
    return &types[worker->type_count++];
}

static void learn(double *average, double seconds)
{
    *average += (seconds - *average) / 8;
}

/* Redis's time when its attempt began; 0 while that is not known. */
static double redis_began(const struct later_job *job)
{
    double offset = job->worker->redis_offset;

    return offset ? job->began + offset : 0;
}

/* Its pauses grow with the time for which nobody has had its type: a quarter of that. */
static double unknown_wait(double age, double max)
{
    double wait = fmin(fmax(age / 4, UNKNOWN_LEAST), UNKNOWN_MOST);

    return max > 0 ? fmin(wait, fmax(max - age, 1)) : wait;
}

static void settle_unknown(struct later_job *job, double since)
{
    struct worker *worker = job->worker;
    double now = later_clock(), max = worker->config->unknown_max;
    double age = since > 0 ? fmax(redis_began(job) - since, 0) : 0, wait = unknown_wait(age, max);
    struct backlog_row *row = backlog_make(worker->admission->backlog, 'u', job->doc.type, now);

    if (max > 0 && age >= max) {
        attempt_log(job, LOG_WARN, "buried: no plugin has had this type for %.0f s", age);
        settle_unrun(job, LATER_VERB_BURY, 0, "unknown", "no plugin has had its type");
        return;
    }
    if (row && now >= row->shut)
        attempt_log(job, LOG_WARN,
                    "returned: no plugin has this type; again in %.0f s; others of it are "
                    "not told for a minute",
                    wait);
    if (row && now >= row->shut)
        row->shut = now + UNKNOWN_QUIET;
    slot_finish(job->slot, LATER_VERB_RETURN, wait, "unknown", "", "");
    settle(worker, job->slot);
}

/* Reads its document. One that cannot be read is settled; returns false then. */
static bool read_document(struct worker *worker, struct later_job *job)
{
    struct later_error err;

    if (later_document_parse(&job->doc, LATER_DOCUMENT_JOB, job->document, job->document_len,
                             worker->config->document_max, &err) == 0)
        return true;
    if (err.code == LATER_E_SYSTEM) { /* our memory, not its fault */
        settle_unrun(job, LATER_VERB_RETURN, 1, "", "");
        return false;
    }
    attempt_log(job, LOG_WARN, "buried: %s", err.text);
    settle_unrun(job, LATER_VERB_BURY, 0, "bad", err.text);
    return false;
}

/* Jobs that must not run are settled here, each with its reason. Returns true if it is fit to run.
 */
static bool is_fit(struct worker *worker, struct later_job *job, const struct held *held)
{
    const struct slot *slot = job->slot;

    if (!read_document(worker, job))
        return false;
    job_policy(job, worker->config);
    job->slot->kept = job->kept;
    job->slot->keep = job->keep;
    job->slot->keep_max = worker->config->keep.max;
    switch (later_verdict_before(&job->policy, &job->doc, held->attempts, slot->crashes,
                                 redis_began(job))) {
    case LATER_FIT_EXPIRED:
        attempt_log(job, LOG_INFO, "expired");
        settle_unrun(job, LATER_VERB_EXPIRE, 0, "", "");
        return false;
    case LATER_FIT_USED_UP:
        attempt_log(job, LOG_WARN, "buried: %u attempts are over", (unsigned)held->attempts);
        settle_unrun(job, LATER_VERB_BURY, 0, "", ""); /* its last error stays */
        return false;
    case LATER_FIT:
        break;
    }
    job->type = plugin_set_find(worker->plugins, job->doc.type);
    if (!job->type) {
        settle_unknown(job, held->unknown_since);
        return false;
    }
    return true;
}

/* --- the end of a job --- */

/* With nothing under way any more others may come. */
static void end_alone(struct worker *worker)
{
    if (worker->in_flight + worker->in_admission == 0)
        worker->alone = false;
}

static void forget_event_job(struct worker *worker, struct later_job *job)
{
    *job->link = job->next;
    if (job->next)
        job->next->link = job->link;
    worker->in_flight--;
    end_alone(worker);
}

static void job_free(struct later_job *job)
{
    timer_free(job->timer);
    batch_release(job->batch);
    free(job->value);
    free(job);
}

/* An attempt has ended with `result`, now. The job is settled, its struct not freed. */
static void end_attempt(struct later_job *job, uint32_t result, bool timed_out, double now)
{
    struct worker *worker = job->worker;
    double seconds = now - job->began;
    struct worker_type *type = type_of(worker, job->type);
    enum later_attempt_outcome outcome;

    if (type && !job->event)
        learn(&type->average, seconds);
    job->slot->ran = seconds;
    outcome = job_settle(job, job->slot, result, timed_out, worker_random());
    attempt_ended(job, type, outcome, seconds);
    atomic_fetch_add_explicit(&worker->slots->page->performed, 1, memory_order_relaxed);
    if (result != LATER_DONE && result != LATER_RETURN)
        atomic_fetch_add_explicit(&worker->slots->page->failed, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&worker->slots->page->running, 1, memory_order_relaxed);
    worker->performed++;
    settle(worker, job->slot); /* first: it stays settled so if we die while we wait for Redis */
    admission_leave(job);
    job->slot = NULL;
}

/* --- event jobs --- */

/* Asks the handler to stop; it has `grace` seconds to finish. */
static void cancel_event_job(struct later_job *job)
{
    job->cancel_sent = true;
    timer_in(job->timer, job->worker->config->grace);
    if (job->type->type.cancel)
        job->type->type.cancel(job); /* may finish it: job may be gone */
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
    } else { /* it did not finish: settled without it; the struct waits for a late finish */
        forget_event_job(worker, job);
        end_attempt(job, LATER_RETRY, true, later_clock());
    }
    worker_kick(worker);
}

/* A finished event job's struct is kept for a while, so that a second finish finds something to be
 * refused by. */
static void remember_finished(struct worker *worker, struct later_job *job)
{
    struct later_job **oldest = &worker->finished[worker->next_finished++ % WORKER_FINISHED];

    batch_release(job->batch);
    timer_free(job->timer);
    job->batch = NULL;
    job->timer = NULL;
    job->document = job->doc.payload = "";
    job->document_len = job->doc.payload_len = 0;
    job->ended = true;
    free(*oldest);
    *oldest = job;
}

/* later_job_finish(): host.c checks and calls it. */
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
        remember_finished(worker, job);
        return -1;
    }
    forget_event_job(worker, job);
    end_attempt(job, result, job->cancel_sent, later_clock());
    remember_finished(worker, job);
    worker_kick(worker);
    return 0;
}

static bool start_event_job(struct later_job *job)
{
    struct worker *worker = job->worker;

    job->timer = timer_new(worker->base, on_job_timer, job);
    if (!job->timer)
        return false;
    timer_in(job->timer, job->deadline - job->began);
    job->next = worker->jobs;
    job->link = &worker->jobs;
    if (job->next)
        job->next->link = &job->next;
    worker->jobs = job;
    worker->in_flight++;
    timer_soon(worker->watch, 0.25); /* else short jobs would put it off */
    return true;
}

static struct later_job *withdrawn(const struct worker *worker)
{
    for (struct later_job *job = worker->jobs; job; job = job->next) {
        if (!job->cancel_sent && atomic_load(&job->slot->cancelled))
            return job;
    }
    return NULL;
}

void run_watch(struct worker *worker)
{
    struct later_job *job;

    while ((job = withdrawn(worker))) /* from the start again: a cancel may finish any of them */
        cancel_event_job(job);
}

/* --- one job --- */

/* Everything about the job that its worker's death would leave to the keeper. */
static void describe(const struct later_job *job)
{
    struct slot *slot = job->slot;

    memcpy(slot->type, job->doc.type, sizeof slot->type);
    memcpy(slot->trace, job->doc.trace, sizeof slot->trace);
    slot->attempt = job->attempt;
    slot->max_attempts = job->policy.max_attempts;
    slot->event = job->event;
    slot->began = job->began;
    slot->deadline = job->deadline;
    slot->retry_in = later_backoff_delay(&job->policy.backoff, job->attempt, worker_random());
}

static uint32_t perform(struct later_job *job)
{
    uint32_t result;

    job->in_perform = true;
    result = (uint32_t)job->type->type.perform(job);
    job->in_perform = false;
    if (job->event && job->ended)
        return job->result;
    if (result == LATER_DEFERRED && job->event)
        return LATER_DEFERRED;
    if (!job_result_valid(result)) {
        snprintf(job->error, sizeof job->error, "plugin %s: type %s answered %u", job->type->plugin,
                 job->doc.type, (unsigned)result);
        return LATER_RETRY;
    }
    return result;
}

static void run_one(struct worker *worker, struct later_job *job)
{
    struct worker_queue *queue = &worker->queues[job->slot->queue];
    uint32_t result;
    double now;

    describe(job);
    atomic_fetch_add_explicit(&worker->slots->page->running, 1, memory_order_relaxed);
    worker->running = !job->event;
    result = perform(job);
    worker->running = false;
    now = later_clock(); /* once: of a quick job the clock is a tenth */
    queue->average = intake_average(worker, queue);
    learn(&queue->average, now - job->began);
    learn(&worker->average, now - job->began);
    if (result == LATER_DEFERRED && start_event_job(job))
        return;
    if (result == LATER_DEFERRED)
        result = LATER_RETRY; /* no memory for its timer */
    end_attempt(job, result, job->cancel_sent, now);
    job_free(job);
}

static struct later_job *job_new(struct worker *worker, const struct held *held, double now)
{
    struct later_job *job = calloc(1, sizeof *job);

    if (!job)
        return NULL;
    job->worker = worker;
    job->slot = held->slot;
    job->batch = held->batch;
    job->document = held->document;
    job->document_len = held->document_len;
    job->id = held->slot->id;
    job->token = held->slot->token;
    job->queue = worker->queues[held->slot->queue].whole;
    job->score = held->score;
    job->attempt = held->attempts + 1;
    job->in_worker = worker->slots->worker;
    job->began = now;
    job->retry_in = -1;
    return job;
}

/* Must it run by itself: a serial job, a suspect? */
static bool is_single(const struct later_job *job)
{
    return !job->event || job->slot->crashes == 0;
}

/* Not beside what is under way: a single one, or any job where a suspect runs. It and all behind it
 * go back, and nothing is reserved until what is under way has ended. */
static bool must_wait(const struct worker *worker, const struct later_job *job)
{
    return worker->in_flight + worker->in_admission > 0 && (worker->alone || is_single(job));
}

static void give_back(struct worker *worker, struct later_job *job)
{
    settle_unrun(job, LATER_VERB_RETURN, 0, "", "");
    job_free(job);
    return_held(worker);
    worker->alone = true;
}

/* Its plugin has no room for it. It and all behind it go back, and this queue is asked again when
 * there is some (intake_limit). */
static void turn_away(struct worker *worker, struct later_job *job, struct worker_queue *queue)
{
    settle_unrun(job, LATER_VERB_RETURN, 0, "", "");
    job_free(job);
    return_held(worker);
    intake_live(worker, queue, true);
}

/* --- admission --- */

static void leave_admission(struct worker *worker, const struct later_job *job)
{
    worker->in_admission--;
    worker->single = worker->single && !is_single(job);
    end_alone(worker);
}

/* It is not begun. */
static void turn_back(struct later_job *job, double wait)
{
    leave_admission(job->worker, job);
    admission_leave(job);
    settle_unrun(job, LATER_VERB_RETURN, wait, "", "");
    job_free(job);
}

/* What it needs may not be there: then it waits in `delayed`, and others pass it. */
void run_passed(struct later_job *job, double wait, const char *name)
{
    struct worker *worker = job->worker;

    worker_kick(worker);
    if (wait >= 0) {
        attempt_log(job, LOG_DEBUG, "returned: waits for %s, %.3f s", name, wait);
        turn_back(job, wait);
        return;
    }
    if (!worker->passed)
        worker->passed_last = &worker->passed;
    *worker->passed_last = job;
    worker->passed_last = &job->next;
}

static struct later_job *take_passed(struct worker *worker)
{
    struct later_job *job = worker->passed;

    worker->passed = job->next;
    job->next = NULL;
    return job;
}

void run_return_held(struct worker *worker)
{
    return_held(worker);
    while (worker->passed)
        turn_back(take_passed(worker), 0);
}

/* A lease that is over by our own clock is not begun: somebody else may have it. If nobody has, the
 * job goes back untouched; else that changes nothing. */
static bool is_over(const struct slot *slot, double now)
{
    return now * 1e6 > (double)atomic_load(&slot->lease_end) || atomic_load(&slot->cancelled);
}

static void begin(struct worker *worker, struct later_job *job)
{
    double now = later_clock(), waited = now - job->began;
    const struct worker_type *type = type_of(worker, job->type);

    if (is_over(job->slot, now)) {
        turn_back(job, 0);
        return;
    }
    leave_admission(worker, job);
    job->began += waited;
    job->deadline += waited;
    if (job->event && is_single(job))
        worker->alone = true;
    if (outbox_waiting(worker->outbox) && type && !job->event && type->average >= SLOW)
        intake_flush(worker);
    run_one(worker, job);
    end_alone(worker);
}

/* Takes the first held job to admission. */
static void approach(struct worker *worker)
{
    struct held held = take_held(worker);
    double now = later_clock();
    struct worker_queue *queue;
    struct later_job *job;
    bool over;

    /* Whoever moves it on owns it: we, or the keeper that gives it back. */
    if (!slot_move(held.slot, SLOT_HELD, SLOT_RUNNING)) {
        batch_release(held.batch);
        return;
    }
    over = is_over(held.slot, now);
    job = over ? NULL : job_new(worker, &held, now);
    if (!job) {
        batch_release(held.batch);
        slot_finish(held.slot, LATER_VERB_RETURN, over ? 0 : 1, "held", "", "");
        settle(worker, held.slot);
        return;
    }
    if (!is_fit(worker, job, &held)) {
        job_free(job);
        return;
    }
    queue = &worker->queues[job->slot->queue];
    job->event = job->type->type.mode == LATER_EVENT;
    intake_limit(queue, job);
    if (must_wait(worker, job)) {
        give_back(worker, job);
        return;
    }
    if (job->event && plugin_type_room(job->type, job->doc.type) <= worker->in_admission) {
        turn_away(worker, job, queue);
        return;
    }
    worker->in_admission++;
    worker->single = is_single(job);
    admission_ask(job);
}

bool run_next(struct worker *worker)
{
    struct later_job *job = worker->passed;

    if (job && (job->event || !admission_open(worker->admission)))
        begin(worker, take_passed(worker));
    else if (worker->held_count && !worker->single)
        approach(worker);
    else
        return false;
    return true;
}
