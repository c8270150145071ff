/* admission.c: what a job needs before it may run, asked for in turn. */
#include "worker/admission.h"
#include "reservation/job.h"

#include "client/call.h"
#include "base/clock.h"
#include "base/digest.h"
#include "client/lock_wait.h"
#include "queue/permit.h"
#include "queue/stock.h"
#include "worker/backlog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUT_SECONDS  0.02 /* a lock or places that were not to be had are not asked for again */
#define FIRST_SECONDS 0.2  /* until the first that waits for them looks again */
#define FIRST_MOST    2.0  /* more and more, up to this, while they stay closed */
#define APART_SECONDS 0.25 /* between the looks of those behind it */
#define LIMIT_LEAST   0.01 /* a limit that opens sooner is not asked again and again */
#define AWAY_SECONDS  1.0  /* where Redis does not answer */
#define QUIET_SECONDS 10.0 /* between two lines in the log about that */

struct worker_need {
    enum admission_kind kind;
    uint32_t max;
    double per;
    bool sliding;
    char name[LATER_LOCK_MAX + 1];
};

/* --- what it needs --- */

static struct worker_need *next_need(struct worker *worker, size_t *count, enum admission_kind kind)
{
    struct worker_need *need = &worker->needs[(*count)++];

    *need = (struct worker_need){ .kind = kind };
    return need;
}

static void limit_name(const struct config_limit *limit, const struct later_job *job,
                       char name[LATER_LOCK_MAX + 1])
{
    char whole[400], bucket[LATER_BUCKET_MAX + 1] = "", nth[16] = "";

    if (limit->member[0])
        later_document_bucket(&job->doc, limit->member, bucket);
    if (limit->nth)
        snprintf(nth, sizeof nth, "/%u", (unsigned)limit->nth + 1);
    snprintf(whole, sizeof whole, "%s:%s%s%s%s%s%s", limit->type[0] ? "type" : "queue",
             limit->type[0] ? limit->type : limit->queue, nth, limit->member[0] ? ":" : "",
             limit->member, limit->member[0] ? "=" : "", bucket);
    if (strlen(whole) <= LATER_LOCK_MAX)
        strcpy(name, whole);
    else
        later_digest(whole, strlen(whole), name);
}

static void add_limits(const struct later_job *job, size_t *count)
{
    const struct config *config = job->worker->config;

    for (uint32_t i = 0; i < config->limit_count; i++) {
        const struct config_limit *limit = &config->limits[i];
        struct worker_need *need;

        if (limit->type[0] ? !config_type_matches(limit->type, job->doc.type)
                           : strcmp(limit->queue, job->queue) != 0)
            continue;
        need = next_need(job->worker, count, ADMISSION_LIMIT);
        need->max = limit->max;
        need->per = limit->per;
        need->sliding = limit->sliding;
        limit_name(limit, job, need->name);
    }
}

/* Fills worker->needs; returns how many, or -1 without memory. Locks first, then places, limits:
 * every job asks in the same order. */
static ssize_t needs_of(const struct later_job *job)
{
    struct worker *worker = job->worker;
    const struct config_type *rules = job->rules;
    const struct config_queue *queue = &worker->start->pool->queues[job->slot->queue];
    bool exclusive = rules && rules->exclusive;
    uint32_t running = rules ? rules->max_running : 0;
    struct worker_need *need;
    size_t count = 0;

    if (!job->doc.lock[0] && !exclusive && !running && !queue->max_running &&
        !worker->config->limit_count)
        return 0;
    if (!worker->needs)
        worker->needs = calloc(4 + worker->config->limit_count, sizeof *worker->needs);
    if (!worker->needs)
        return -1;
    if (job->doc.lock[0])
        strcpy(next_need(worker, &count, ADMISSION_LOCK)->name, job->doc.lock);
    if (exclusive)
        snprintf(next_need(worker, &count, ADMISSION_LOCK)->name, sizeof need->name, "type:%s",
                 job->doc.type);
    if (running) {
        need = next_need(worker, &count, ADMISSION_PERMIT);
        snprintf(need->name, sizeof need->name, "type:%s", rules->name);
        need->max = running;
    }
    if (queue->max_running) {
        need = next_need(worker, &count, ADMISSION_PERMIT);
        snprintf(need->name, sizeof need->name, "queue:%s", job->queue);
        need->max = queue->max_running;
    }
    add_limits(job, &count);
    return (ssize_t)count;
}

/* --- asking Redis --- */

/* One line now and then: with Redis away each job would say it. */
static void complain(struct worker *worker, const char *name, const struct later_error *err)
{
    double now = later_clock();

    if (now < worker->complained + QUIET_SECONDS)
        return;
    worker->complained = now;
    log_line(LOG_WARN, "%s: %s; jobs that need it are returned", name, err->text);
}

/* Seconds until it is worth asking again, 0: it is taken; < 0: Redis does not answer. */
static double take_place(const struct later_job *job, const struct worker_need *need)
{
    struct worker *worker = job->worker;
    struct slot_hold *hold =
        admission_hold_enter(job, HOLD_PERMIT, need->name, worker->config->lease);
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    double wait;

    if (!hold)
        return SHUT_SECONDS;
    later_permit_take(&cmd, worker->config->redis.prefix, need->name, hold->token, need->max,
                      hold->ttl);
    reply = later_call(worker->client, &cmd, LATER_SCRIPT_PERMIT_TAKE, 0, true, &err);
    if (!reply) {
        complain(worker, need->name, &err);
        admission_hold_leave(worker, hold, HOLD_LEFT);
        return -1;
    }
    wait = later_permit_wait(reply) > 0 ? SHUT_SECONDS : 0;
    later_reply_free(reply);
    if (wait > 0)
        admission_hold_leave(worker, hold, HOLD_NONE);
    else
        atomic_store_explicit(&hold->state, HOLD_TAKEN, memory_order_release);
    return wait;
}

static double take_lock(struct later_job *job, const struct worker_need *need)
{
    struct later_error err;
    int taken;

    if (admission_held(job, need->name))
        return 0; /* its document asks for its type's */
    taken = admission_lock(job, need->name, job->worker->config->lease, 0, &err);
    if (taken < 0)
        complain(job->worker, need->name, &err);
    return taken < 0 ? -1 : taken == LATER_LOCK_YES ? 0 : SHUT_SECONDS;
}

static double ask_limit(const struct later_job *job, const struct worker_need *need)
{
    struct worker *worker = job->worker;
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    struct later_error err;
    double wait;

    later_limit_ask(&cmd, worker->config->redis.prefix, need->name, need->max, need->per,
                    need->sliding);
    reply = later_call(worker->client, &cmd,
                       need->sliding ? LATER_SCRIPT_LIMIT_SLIDING : LATER_SCRIPT_LIMIT_FIXED, 0,
                       false, &err);
    if (!reply) {
        complain(worker, need->name, &err);
        return -1;
    }
    wait = later_limit_wait(reply);
    later_reply_free(reply);
    return wait > 0 ? fmax(wait, LIMIT_LEAST) : 0;
}

static double ask(struct later_job *job, const struct worker_need *need)
{
    switch (need->kind) {
    case ADMISSION_LOCK:
        return take_lock(job, need);
    case ADMISSION_PERMIT:
        return take_place(job, need);
    case ADMISSION_LIMIT:
        break;
    }
    return ask_limit(job, need);
}

/* --- not free --- */

/* Seconds until this job's turn. */
static double turn_of(const struct later_job *job, const struct worker_need *need,
                      struct backlog_row *row)
{
    double now = later_clock(), wait = backlog_turn(row, now);

    if (need->kind != ADMISSION_LIMIT)
        admission_note_waiting(job, need->kind, need->name, wait);
    return wait;
}

/* `shut`: as ask() says. */
static double note_closed(const struct later_job *job, const struct worker_need *need, double shut)
{
    struct worker *worker = job->worker;
    double now = later_clock(), chance = (double)(run_random() % 1024) / 1024;
    struct backlog_row *row = backlog_make(worker->backlog, (char)need->kind, need->name, now);
    double first = fmin(fmax(backlog_closed_for(row, now) / 8, FIRST_SECONDS), FIRST_MOST);

    first *= 0.75 + chance / 2; /* not all workers at once */
    if (!row)
        return need->kind == ADMISSION_LIMIT ? fmin(shut, BACKLOG_MOST) : first + chance;
    if (need->kind == ADMISSION_LIMIT)
        backlog_close(row, now, shut, shut, need->max, need->per);
    else
        backlog_close(row, now, shut, first, 1, APART_SECONDS);
    return turn_of(job, need, row);
}

double admission_pass(struct later_job *job, const char **name)
{
    struct worker *worker = job->worker;
    ssize_t count = needs_of(job);
    double now = count > 0 ? later_clock() : 0;

    if (count < 0)
        return AWAY_SECONDS;
    for (ssize_t i = 0; i < count; i++) {
        const struct worker_need *need = &worker->needs[i];
        struct backlog_row *row = backlog_find(worker->backlog, (char)need->kind, need->name);

        *name = need->name;
        if (backlog_closed(row, now))
            return turn_of(job, need, row);
    }
    for (ssize_t i = 0; i < count; i++) {
        const struct worker_need *need = &worker->needs[i];
        double shut = ask(job, need);
        struct backlog_row *row;

        *name = need->name;
        if (shut != 0)
            admission_free(job);
        if (shut != 0)
            return shut < 0 ? AWAY_SECONDS : note_closed(job, need, shut);
        row = backlog_find(worker->backlog, (char)need->kind, need->name);
        if (row)
            backlog_open(row);
    }
    return 0;
}
