/* attempt.c: what stays of an attempt that has ended. */
#include "worker/attempt.h"
#include "reservation/job.h"
#include "reservation/value.h"
#include "worker/admission.h"
#include "worker/state.h"

#include "base/clock.h"

#include <stdlib.h>

#define RETURNS_QUIET 60.0 /* seconds between two lines about one type */

/* A handler that gives jobs back gives back many: one line a minute for each type. */
static bool returns_are_told(const struct later_job *job)
{
    double now = later_clock();
    struct backlog_row *row =
        backlog_make(job->worker->admission->backlog, 'r', job->doc.type, now);

    if (row && now < row->shut)
        return false;
    if (row)
        row->shut = now + RETURNS_QUIET;
    return true;
}

void attempt_log(const struct later_job *job, enum log_level level, const char *format, ...)
{
    struct log_job fields;
    va_list args;

    job_log_fields(job, -1, &fields);
    va_start(args, format);
    log_jobv(level, &fields, format, args);
    va_end(args);
}

static void log_end(const struct later_job *job, double seconds)
{
    const struct slot *slot = job->slot;
    struct log_job fields;

    if (slot->verb == LATER_VERB_RETURN && !returns_are_told(job))
        return;
    if (!log_wants(slot->verb == LATER_VERB_ACK ? LOG_DEBUG : LOG_WARN))
        return;
    job_log_fields(job, seconds * 1000, &fields);
    if (slot->verb == LATER_VERB_ACK)
        log_job(LOG_DEBUG, &fields, "done");
    else if (slot->verb == LATER_VERB_RELEASE)
        log_job(LOG_WARN, &fields, "failed, again in %.3f s: %s", slot->wait, slot->text);
    else if (slot->verb == LATER_VERB_RETURN)
        log_job(LOG_WARN, &fields,
                "given back, again in %.3f s: %s; others of this type are not told for a "
                "minute",
                slot->wait, job->error);
    else
        log_job(LOG_WARN, &fields, "failed, buried: %s", slot->text);
}

/* It has to outlive us: we may die before Redis has it. */
static void keep_value(struct later_job *job)
{
    struct later_error err;

    if (job->value && job->slot->verb == LATER_VERB_ACK &&
        value_keep(job->worker->slots, job->slot, job->value, job->value_len, &err) < 0)
        attempt_log(job, LOG_ERROR, "done, but its value is lost: %s", err.text);
    free(job->value);
    job->value = NULL;
}

/* Counts it for the history, under the queue that a shard is of. */
static void count(struct later_job *job, struct worker_type *type,
                  enum later_attempt_outcome outcome, double seconds)
{
    struct worker *worker = job->worker;
    uint32_t queue = worker->queues[job->slot->queue].counted;
    double now = worker->redis_offset ? job->began + worker->redis_offset : 0;
    struct counts **row = &type->counts[queue];

    if (!worker->config->history)
        return;
    if (!*row || type->type->pattern) /* a pattern's jobs are of many types */
        *row = counts_row(&worker->slots->page->counts, queue, job->doc.type, *row);
    if (*row)
        counts_add(*row, outcome, job_waited(job->score, now), seconds);
}

void attempt_ended(struct later_job *job, struct worker_type *type,
                   enum later_attempt_outcome outcome, double seconds)
{
    if (type)
        count(job, type, outcome, seconds);
    keep_value(job);
    log_end(job, seconds);
}
