/* attempt.c: how an attempt ends, and what stays of it. */
#include "worker/attempt.h"
#include "reservation/job.h"
#include "reservation/logbook.h"
#include "reservation/value.h"
#include "worker/admission.h"
#include "worker/said.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define RETURNS_QUIET 60.0  /* seconds between two lines about one type */
#define SLOW_SECONDS  0.001 /* a type that takes longer is slow */

/* How long a type takes, and where it was counted last, by whole queue. */
struct attempts_type {
    const struct plugin_type *type;
    double average;
    struct counts *counts[SLOTS_QUEUES];
};

struct attempts {
    struct attempts_type *types;
    size_t count;
};

struct attempts *attempts_new(void)
{
    return calloc(1, sizeof(struct attempts));
}

void attempts_free(struct attempts *attempts)
{
    if (attempts)
        free(attempts->types);
    free(attempts);
}

/* Finds what is known of a type, or begins with it. NULL: no memory. */
static struct attempts_type *attempts_of(struct attempts *attempts, const struct plugin_type *type)
{
    struct attempts_type *types;

    for (size_t i = 0; i < attempts->count; i++) {
        if (attempts->types[i].type == type)
            return &attempts->types[i];
    }
    types = realloc(attempts->types, (attempts->count + 1) * sizeof *types);
    if (!types)
        return NULL;
    attempts->types = types;
    types[attempts->count] = (struct attempts_type){ .type = type, .average = SLOW_SECONDS };
    return &types[attempts->count++];
}

bool attempt_is_slow(struct attempts *attempts, const struct plugin_type *type)
{
    const struct attempts_type *known = attempts_of(attempts, type);

    return known && known->average >= SLOW_SECONDS;
}

void attempt_learn(double *average, double seconds)
{
    *average += (seconds - *average) / 8;
}

double attempt_began(const struct later_job *job)
{
    double offset = job->worker->redis_offset;

    return offset != 0 ? job->began + offset : 0;
}

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

void attempt_keep_line(const struct later_job *job, enum log_level level, const char *text)
{
    logbook_add(job->worker->slots, job->slot,
                &(struct logbook_line){ .at = later_clock() + job->worker->redis_offset,
                                        .attempt = job->attempt,
                                        .level = log_level_name(level),
                                        .text = text },
                job->log, job->log_len);
}

/* Somebody has cancelled it, or has it now: however it failed, that does not count. */
bool attempt_is_given_up(const struct slot *slot)
{
    return slot_verb(slot) != LATER_VERB_ACK && atomic_load(&slot->cancelled) == SLOT_WITHDRAWN;
}

bool attempt_is_cancelled(const struct slot *slot)
{
    return atomic_load(&slot->cancelled) == SLOT_WITHDRAWN && slot->told_cancel > 0;
}

static void log_end(const struct later_job *job, double seconds)
{
    const struct slot *slot = job->slot;
    enum later_verb verb = slot_verb(slot);
    struct log_job fields;

    if (attempt_is_given_up(slot)) {
        attempt_log(job, LOG_WARN, "%s%s%s",
                    attempt_is_cancelled(slot) ? "given up, since it was cancelled"
                                               : "given up, since its lease was lost",
                    job->error[0] ? ": " : "", job->error);
        return;
    }
    if (verb == LATER_VERB_RETURN && !returns_are_told(job))
        return;
    if (!log_wants(verb == LATER_VERB_ACK ? LOG_DEBUG : LOG_WARN))
        return;
    job_log_fields(job, seconds * 1000, &fields);
    if (verb == LATER_VERB_ACK)
        log_job(LOG_DEBUG, &fields, "done");
    else if (verb == LATER_VERB_RETURN)
        log_job(LOG_WARN, &fields,
                "given back, again in %.3f s%s%s; others of this type are not logged for "
                "a minute",
                slot->wait, job->error[0] ? ": " : "", job->error);
    else
        slot_log_end(slot, &fields, slot->text);
}

/* --- the end --- */

void attempt_settle(struct worker *worker, struct slot *slot)
{
    atomic_store_explicit(&slot->state, SLOT_FINISHED, memory_order_release);
    if (!outbox_add(worker->outbox, worker->slots, slot))
        admission_settled(worker->admission, slot, true);
}

void attempt_unrun(struct later_job *job, enum later_ending ending, double wait, const char *text)
{
    strcpy(job->slot->type, job->doc.type);
    slot_finish(job->slot, (struct later_verdict){ .ending = ending, .wait = wait }, text);
    attempt_settle(job->worker, job->slot);
}

/* The first of these that says something. */
static const char *attempt_hook(const char *document, const char *type, const char *said,
                                const char *queue)
{
    return *document ? document : *type ? type : *said ? said : queue;
}

void attempt_note_hooks(struct later_job *job)
{
    static const struct config_hooks none;
    static const struct later_document nothing;
    const struct config_hooks *type = job->rules ? &job->rules->hooks : &none;
    const struct config_hooks *queue = &job->from->config->hooks;
    const struct later_document *said = said_find(job->worker->said, job->doc.type);
    struct slot *slot = job->slot;
    const char *dead, *done;

    said = said ? said : &nothing;
    dead = attempt_hook(job->doc.on_dead, type->on_dead, said->on_dead, queue->on_dead);
    done = attempt_hook(job->doc.on_done, type->on_done, said->on_done, queue->on_done);
    if (job->doc.hook_of[0] || (!*dead && !*done))
        return;
    strcpy(slot->on_dead, dead);
    strcpy(slot->on_done, done);
}

/* It has to outlive us: we may die before Redis has it. */
static void keep_value(struct later_job *job)
{
    struct later_error err;

    if (job->value && slot_verb(job->slot) == LATER_VERB_ACK &&
        value_keep(job->worker->slots, job->slot, job->value, job->value_len, &err) < 0)
        attempt_log(job, LOG_ERROR, "done, but its value is lost: %s", err.text);
    free(job->value);
    job->value = NULL;
}

/* Of all errors but the last the record has one line each. Where lines are kept, each is among
 * them, whole. */
static void attempt_keep_error(const struct later_job *job)
{
    const struct slot *slot = job->slot;

    if (slot->logs_kept > 0 && later_outcome_failed(slot_counted(slot)) &&
        !attempt_is_given_up(slot))
        attempt_keep_line(job, LOG_ERROR, slot->text);
}

/* Counts it for the history, under the queue that a shard is of. */
static void attempt_count(struct later_job *job, struct attempts_type *type, double seconds)
{
    struct worker *worker = job->worker;
    uint32_t queue = job->from->counted;
    struct counts **row = &type->counts[queue];

    if (!worker->config->history)
        return;
    if (!*row || type->type->pattern) /* a pattern's jobs are of many types */
        *row = counts_row(&worker->slots->page->counts, queue, job->doc.type, *row);
    if (*row)
        counts_add(*row, slot_counted(job->slot), job_waited(job->score, attempt_began(job)),
                   seconds);
}

void attempt_end(struct later_job *job, uint32_t result, bool timed_out, double now)
{
    struct worker *worker = job->worker;
    double seconds = now - job->began;
    struct attempts_type *type = attempts_of(worker->attempts, job->type);
    const struct later_document *said;

    if (type && !job->event)
        attempt_learn(&type->average, seconds);
    job->slot->ran = seconds;
    said = said_find(worker->said, job->doc.type); /* it may have come since the job was taken */
    if (said) {
        job_policy(job, worker->config, said);
        attempt_note_hooks(job);
    }
    job_settle(job, job->slot, result, timed_out, worker_random());
    if (type)
        attempt_count(job, type, seconds);
    attempt_keep_error(job);
    keep_value(job);
    log_end(job, seconds);
    atomic_fetch_add_explicit(&worker->slots->page->performed, 1, memory_order_relaxed);
    if (later_outcome_failed(slot_counted(job->slot)))
        atomic_fetch_add_explicit(&worker->slots->page->failed, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&worker->slots->page->running, 1, memory_order_relaxed);
    if (result != LATER_RETURN)
        admission_begun(job);          /* if nobody has said so before */
    attempt_settle(worker, job->slot); /* before its locks: we may die behind each step */
    admission_leave(job);
    job->slot = NULL;
}
