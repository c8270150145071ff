/* run.c: one job: is it fit, does it need anything besides, its handler. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/attempt.h"
#include "worker/said.h"
#include "worker/intake.h"
#include "worker/run_inner.h"

#include "base/clock.h"
#include "base/uncleared.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_LEAST 0.25   /* seconds until another look for a type, */
#define UNKNOWN_SOON  10.0   /* for so long: another host may have it, or a deploy is under way */
#define UNKNOWN_MOST  3600.0 /* then more and more, at most this */
#define UNKNOWN_QUIET 60.0   /* between two lines about one type */

/* --- held jobs --- */

static void return_held(struct worker *worker)
{
    struct held held;

    while (intake_take(worker->intake, &held)) {
        batch_release(held.batch);
        slot_return(held.slot, 0);
        attempt_settle(worker, held.slot);
    }
}

/* --- is it fit to run? --- */

/* For a while its jobs come back soon: another host may have its type. Then the pauses grow with
 * the time for which nobody has had the type: a quarter of that. All are a half more or less: if
 * jobs came back all together, we, who are idle, would have most of them again, and a host with the
 * type would find none when it has done the few that it got. */
static double unknown_wait(double age, double max)
{
    double wait = age < UNKNOWN_SOON ? UNKNOWN_LEAST : fmin(age / 4, UNKNOWN_MOST);

    wait *= 0.5 + (double)(worker_random() % 1024) / 1024;
    return max > 0 ? fmin(wait, fmax(max - age, 1)) : wait;
}

static void settle_unknown(struct later_job *job, double since)
{
    struct worker *worker = job->worker;
    double now = later_clock(), max = worker->config->unknown_max;
    double age = since > 0 ? fmax(attempt_began(job) - since, 0) : 0, wait = unknown_wait(age, max);
    struct backlog_row *row = backlog_make(worker->admission->backlog, 'u', job->doc.type, now);

    if (max > 0 && age >= max) {
        attempt_log(job, LOG_WARN, "buried: no plugin has had this type for %.0f s", age);
        attempt_unrun(job, LATER_ENDED_UNSERVED, 0, "no plugin has had its type");
        return;
    }
    if (row && now >= row->shut)
        attempt_log(job, LOG_WARN,
                    "returned: no plugin has this type; again in %.1f s; others of it are "
                    "not logged for a minute",
                    wait);
    if (row && now >= row->shut)
        row->shut = now + UNKNOWN_QUIET;
    attempt_unrun(job, LATER_ENDED_UNKNOWN, wait, "");
}

/* Reads its document. One that cannot be read is settled; returns false then. */
static bool read_document(struct worker *worker, struct later_job *job)
{
    struct later_error err;

    if (later_document_parse(&job->doc, LATER_DOCUMENT_JOB, job->document, job->document_len,
                             (size_t)worker->config->document_max, &err) == 0)
        return true;
    if (err.code == LATER_E_SYSTEM) { /* our memory, not its fault */
        attempt_unrun(job, LATER_ENDED_HELD, 1, "");
        return false;
    }
    attempt_log(job, LOG_WARN, "buried: %s", err.text);
    memset(&job->doc, 0, sizeof job->doc);
    attempt_note_hooks(job); /* its queue may have some */
    attempt_unrun(job, LATER_ENDED_BAD, 0, err.text);
    return false;
}

/* Its type is paused: until that ends it is kept aside, whose place is told by Redis. */
static bool is_paused(struct worker *worker, struct later_job *job)
{
    char type[LATER_TYPE_MAX + 1] LATER_UNCLEARED;

    if (!overlay_pauses(worker->start->overlay, job->from->keys.queue, job->doc.type, job->began,
                        type))
        return false;
    attempt_log(job, LOG_DEBUG, "returned: its type is paused");
    admission_stand_back(job, false);
    attempt_unrun(job, LATER_ENDED_PAUSED, 0, type);
    return true;
}

/* Jobs that must not run are settled here, each with its reason. Returns true if it is fit to run.
 */
static bool is_fit(struct worker *worker, struct later_job *job, const struct held *held)
{
    const struct slot *slot = job->slot;

    if (!read_document(worker, job))
        return false;
    job_policy(job, worker->config, said_find(worker->said, job->doc.type));
    job->slot->kept = job->kept;
    job->slot->keep = job->keep;
    job->slot->keep_max = worker->config->keep.max;
    attempt_note_hooks(job);
    switch (later_verdict_before(&job->policy, &job->doc, held->job.attempts, slot->crashes,
                                 held->job.begun, attempt_began(job))) {
    case LATER_FIT_EXPIRED:
        attempt_log(job, LOG_INFO, "expired");
        attempt_unrun(job, LATER_ENDED_EXPIRED, 0, "");
        return false;
    case LATER_FIT_USED_UP:
        attempt_log(job, LOG_WARN, "buried: %u attempts are used up", (unsigned)held->job.attempts);
        attempt_unrun(job, LATER_ENDED_USED_UP, 0, ""); /* its last error stays */
        return false;
    case LATER_FIT:
        break;
    }
    if (is_paused(worker, job))
        return false;
    job->type = plugin_set_find(worker->plugins, job->doc.type);
    if (!job->type) {
        settle_unknown(job, held->job.unknown_since);
        return false;
    }
    return true;
}

void run_end_alone(struct run *run)
{
    if (run->load.in_flight + run->load.in_admission == 0)
        run->load.alone = false;
}

/* The room of one is kept for the next. */
static void job_free(struct later_job *job)
{
    struct run *run = job->worker->run;

    admission_forget(job);
    timer_free(job->timer);
    batch_release(job->batch);
    free(job->value);
    run_forget_values(job);
    free(run->spare);
    run->spare = job;
}

/* --- one job --- */

/* Everything about the job that its worker's death would leave to the keeper. */
static void run_describe(struct later_job *job)
{
    struct slot *slot = job->slot;

    strcpy(slot->type, job->doc.type);
    strcpy(slot->trace, job->doc.trace);
    slot->attempt = job->attempt;
    slot->max_attempts = job->policy.max_attempts;
    slot->event = job->event;
    slot->began = job->began;
    slot->waited = job_waited(job->score, attempt_began(job));
    slot->deadline = job->deadline;
    slot->timed = job->doc.retry_for > 0;
    if (slot->timed && job->first_failed > 0)
        slot->retry_until = job->first_failed + job->doc.retry_for - job->worker->redis_offset;
    slot->retry_in =
        later_verdict_backoff(&job->policy.backoff, job->attempt, slot->crashes, worker_random());
    attempt_note_hooks(job); /* its program may have introduced itself since */
}

static uint32_t run_perform(struct later_job *job)
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

/* Does its plugin say later_job_begun()? Else it begins when it is performed. */
static bool tells_begin(const struct later_job *job)
{
    return job->type->type.flags & LATER_TELLS_BEGIN;
}

void run_end(struct later_job *job, uint32_t result, bool timed_out, double now)
{
    attempt_end(job, result, timed_out, now);
    if (job->is_step)
        intake_freed(job->worker->intake, job->from);
}

static void run_one(struct worker *worker, struct later_job *job)
{
    uint32_t result;
    double now;

    run_describe(job);
    atomic_fetch_add_explicit(&worker->slots->page->running, 1, memory_order_relaxed);
    if (!job->event && !tells_begin(job))
        admission_begun(job); /* it blocks the loop */
    result = run_perform(job);
    if (job->event && !tells_begin(job))
        admission_begun(job);
    now = later_clock(); /* once: of a quick job the clock is a tenth */
    intake_learn(worker->intake, job->from, now - job->began);
    if (result != LATER_DEFERRED) {
        run_end(job, result, job->cancel_sent, now);
        job_free(job);
    } else if (!run_start_event(job)) {
        run_end_without(job, job->cancel_sent, now);
    }
}

/* What does not fit is left out. */
static void job_copy(char *to, size_t size, const char *from, size_t len)
{
    if (len >= size)
        len = 0;
    memcpy(to, from, len);
    to[len] = '\0';
}

static struct later_job *job_new(struct worker *worker, const struct held *held, double now)
{
    struct run *run = worker->run;
    struct later_job *job = run->spare ? run->spare : malloc(sizeof *job);

    if (!job)
        return NULL;
    run->spare = NULL;
    job_clear(job);
    job->worker = worker;
    job->slot = held->slot;
    job->from = held->from;
    job->batch = held->batch;
    job->document = held->job.document;
    job->document_len = held->job.document_len;
    job->id = held->slot->id;
    job->token = held->slot->token;
    job->queue = held->from->whole;
    job->score = held->score;
    job->attempt = held->job.attempts + 1;
    job->is_step = held->job.is_step;
    job->checkpoint = held->job.checkpoint;
    job->checkpoint_len = held->job.checkpoint_len;
    job->log = held->job.log;
    job->log_len = held->job.log_len;
    job->first_failed = held->job.first_failed;
    job_copy(job->flow, sizeof job->flow, held->job.flow, held->job.flow_len);
    job->given = held->given;
    job_copy(job->line, sizeof job->line, held->job.line, held->job.line_len);
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

/* Must not run beside what is under way: a job that runs alone, or any job while a suspect runs. */
static bool must_wait(const struct run *run, const struct later_job *job)
{
    return run->load.in_flight + run->load.in_admission > 0 && (run->load.alone || is_single(job));
}

/* It and all after it go back. */
static void run_give_back(struct worker *worker, struct later_job *job)
{
    attempt_unrun(job, LATER_ENDED_HELD, 0, "");
    job_free(job);
    return_held(worker);
}

/* --- admission --- */

static void leave_admission(struct run *run, const struct later_job *job)
{
    run->load.in_admission--;
    run->load.single = run->load.single && !is_single(job);
    run_end_alone(run);
}

/* It is not begun. A time to come back at is that of a line. */
static void turn_back(struct later_job *job, double wait)
{
    bool waits = wait >= LATER_WAIT_TIME;

    leave_admission(job->worker->run, job);
    admission_leave(job);
    if (waits)
        intake_pass_by(job->worker->intake);
    attempt_unrun(job, waits ? LATER_ENDED_LINE : LATER_ENDED_HELD, wait, waits ? job->line : "");
    job_free(job);
}

/* What it needs may not be there: then it waits in `delayed`, and others pass it. */
void run_passed(struct later_job *job, double wait, const char *name)
{
    struct run *run = job->worker->run;

    worker_pump_soon(job->worker);
    if (wait >= 0) {
        attempt_log(job, LOG_DEBUG, "returned: waits for %s", name);
        turn_back(job, wait);
        return;
    }
    if (!run->passed)
        run->passed_last = &run->passed;
    *run->passed_last = job;
    run->passed_last = &job->next;
}

static struct later_job *take_passed(struct run *run)
{
    struct later_job *job = run->passed;

    run->passed = job->next;
    job->next = NULL;
    return job;
}

void run_return_held(struct run *run)
{
    return_held(run->worker);
    while (run->passed)
        turn_back(take_passed(run), 0);
}

/* A lease that is over by our own clock is not begun: somebody else may have it. If nobody has, the
 * job goes back untouched; else that changes nothing. */
static bool is_over(const struct slot *slot, double now)
{
    return now * 1e6 > (double)atomic_load(&slot->lease_end) || atomic_load(&slot->cancelled);
}

/* Nothing more begins once the quota is spent: the supervisor, who is told, makes all drain. */
static bool run_is_allowed(struct worker *worker)
{
    struct quota *quota = worker->start->quota;
    bool allowed = quota_take(quota);

    if (quota_is_spent(quota)) {
        worker->paused = true;
        worker_report(worker, WORKER_SPENT);
    }
    return allowed;
}

/* It has all that it needs. What came before `now` is not its time. */
static void run_begin(struct run *run, struct later_job *job, double now)
{
    struct worker *worker = run->worker;

    job->deadline += now - job->began;
    job->began = now;
    if (job->event && is_single(job))
        run->load.alone = true;
    if (!job->event && outbox_waiting(worker->outbox) &&
        attempt_is_slow(worker->attempts, job->type))
        intake_flush(worker->intake);
    run_one(worker, job);
    run_end_alone(run);
}

static void begin_passed(struct run *run, struct later_job *job)
{
    double now = later_clock();

    if (is_over(job->slot, now) || !run_is_allowed(run->worker)) {
        turn_back(job, 0);
        return;
    }
    leave_admission(run, job);
    run_begin(run, job, now);
}

/* It waits for its program, if that still starts; else it asks for what it needs. */
void run_proceed(struct later_job *job)
{
    if (plugin_type_ready(job->type, job->doc.type))
        admission_ask(job);
    else
        run_await(job);
}

/* Most jobs need nothing besides. A serial one blocks the loop, which it may not while admission
 * waits for an answer. What is held waits for no program that starts: others may have one. */
static void enter(struct run *run, struct later_job *job)
{
    struct worker *worker = run->worker;
    bool ready = plugin_type_ready(job->type, job->doc.type);

    if (job->line[0])
        admission_stand_back(job, true);
    if (ready && !run_lacks_values(job) && !admission_needed(job) &&
        (job->event || !admission_open(worker->admission))) {
        if (run_is_allowed(worker))
            run_begin(run, job, later_clock());
        else
            run_give_back(worker, job);
        return;
    }
    run->load.in_admission++;
    run->load.single = is_single(job);
    if (run_lacks_values(job))
        run_ask_values(job);
    else
        run_proceed(job);
    if (ready)
        return;
    if (intake_held(worker->intake))
        intake_has_more(worker->intake, job->from);
    return_held(worker);
}

/* Takes the first held job: it begins, goes to admission, or is settled. */
static void approach(struct run *run)
{
    struct worker *worker = run->worker;
    double now = later_clock();
    struct held held;
    struct later_job *job;
    bool over;

    if (!intake_take(worker->intake, &held))
        return;
    over = is_over(held.slot, now);
    job = over ? NULL : job_new(worker, &held, now);
    if (!job) {
        batch_release(held.batch);
        slot_return(held.slot, over ? 0 : 1);
        attempt_settle(worker, held.slot);
        return;
    }
    if (!is_fit(worker, job, &held)) {
        intake_pass_by(worker->intake);
        job_free(job);
        return;
    }
    job->event = job->type->type.mode == LATER_EVENT;
    intake_limit(worker->intake, job);
    if (must_wait(run, job)) {
        run_give_back(worker, job);
        run->load.alone = true; /* nothing is reserved until what is under way has ended */
    } else if (job->event && plugin_type_room(job->type, job->doc.type) <= run->load.in_admission) {
        run_give_back(worker, job);
        /* Asked again when there is room (intake_limit). */
        intake_has_more(worker->intake, held.from);
    } else {
        enter(run, job);
    }
}

bool run_next(struct run *run)
{
    struct worker *worker = run->worker;
    struct later_job *job = run->passed;

    if (job && (job->event || !admission_open(worker->admission)))
        begin_passed(run, take_passed(run));
    else if (intake_held(worker->intake) && !run->load.single)
        approach(run);
    else
        return false;
    return true;
}

/* --- making and unmaking --- */

struct run *run_new(struct worker *worker)
{
    struct run *run = calloc(1, sizeof *run);

    if (!run)
        return NULL;
    run->worker = worker;
    run->watch = timer_new(worker->base, run_watch, run);
    run->ready = timer_new(worker->base, run_look_ready, run);
    if (!run->watch || !run->ready) {
        run_free(run);
        return NULL;
    }
    worker->load = &run->load;
    return run;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    timer_free(run->watch);
    timer_free(run->ready);
    for (size_t i = 0; i < RUN_FINISHED; i++)
        free(run->finished[i]);
    free(run->spare);
    free(run);
}
