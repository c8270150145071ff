/* admission.c: asks for what a job needs before it may run, one thing after the other. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/state.h"

#include "base/clock.h"
#include "base/digest.h"
#include "queue/lock.h"
#include "queue/permit.h"
#include "queue/stock.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUT_SECONDS  0.002 /* before asking again for what was not free */
#define LIMIT_LEAST   0.01  /* a limit that opens sooner is not asked again at once */
#define AWAY_SECONDS  1.0   /* if Redis does not answer */
#define LOOK_SECONDS  0.75  /* between two looks at the lines, plus up to half a second */
#define QUIET_SECONDS 10.0  /* between two log lines about that */

struct need {
    char kind; /* 'l'ock, 'p'laces, li'm'it */
    uint32_t max;
    double per;
    bool sliding;
    char name[LATER_LOCK_MAX + 1];
};

/* --- what it needs --- */

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

static bool nth_limit(const struct later_job *job, uint32_t n, struct need *need)
{
    const struct config *config = job->worker->config;

    for (uint32_t i = 0; i < config->limit_count; i++) {
        const struct config_limit *limit = &config->limits[i];

        if (limit->type[0] ? !config_type_matches(limit->type, job->doc.type)
                           : strcmp(limit->queue, job->queue) != 0)
            continue;
        if (n-- > 0)
            continue;
        *need = (struct need){
            .kind = 'm', .max = limit->max, .per = limit->per, .sliding = limit->sliding
        };
        limit_name(limit, job, need->name);
        return true;
    }
    return false;
}

static bool is_need(struct need *need, char kind, uint32_t max, const char *what, const char *name)
{
    *need = (struct need){ .kind = kind, .max = max };
    snprintf(need->name, sizeof need->name, "%s%s", what, name);
    return true;
}

/* Returns its n-th need; false if it has fewer. Locks come first, then permits, then limits, so
 * every job asks in the same order. */
static bool nth_need(const struct later_job *job, uint32_t n, struct need *need)
{
    const struct config_type *rules = job->rules;
    const struct config_queue *queue = job->worker->queues[job->slot->queue].config;

    if (job->doc.lock[0] && n-- == 0)
        return is_need(need, 'l', 1, "", job->doc.lock);
    if (rules && rules->exclusive && n-- == 0)
        return is_need(need, 'l', 1, "type:", job->doc.type);
    if (rules && rules->max_running && n-- == 0)
        return is_need(need, 'p', rules->max_running, "type:", rules->name);
    if (queue->max_running && n-- == 0)
        return is_need(need, 'p', queue->max_running, "queue:", job->queue);
    return nth_limit(job, n, need);
}

bool admission_needed(const struct later_job *job)
{
    struct need need;

    return nth_need(job, 0, &need);
}

/* --- it must wait --- */

/* Logs a line only now and then: while Redis is away, every job would cause one. */
static void complain(struct admission *admission, const char *name, const char *text)
{
    double now = later_clock();

    if (now < admission->complained + QUIET_SECONDS)
        return;
    admission->complained = now;
    log_line(LOG_WARN, "%s: %s; jobs that need it are returned", name, text);
}

/* The job enters the line when its return has been answered. Without memory it comes back by
 * itself. */
static double refuse_in_line(struct later_job *job, const struct need *need,
                             struct backlog_row *row)
{
    struct admission *admission = job->worker->admission;
    const struct slots *slots = job->worker->slots;
    const struct line_key at = { need->kind == 'l', need->max, need->name };
    double wait = row ? backlog_look(row) : AWAY_SECONDS;

    admission->returns[job->slot - slots->page->slots] = line_entry(
        admission->line, &at, wait, job->worker->queues[job->slot->queue].keys.queue, job->id);
    return wait;
}

static void refuse(struct later_job *job, const struct need *need, struct backlog_row *row)
{
    double now = later_clock(), wait;

    if (need->kind != 'm')
        wait = refuse_in_line(job, need, row);
    else
        wait = row ? backlog_turn(row, now) : AWAY_SECONDS;
    job->worker->admission->done(job, wait, need->name);
}

/* Redis said no. A limit opens after `opens` seconds. */
static void on_closed(struct later_job *job, const struct need *need, double opens)
{
    double now = later_clock();
    struct backlog_row *row =
        backlog_make(job->worker->admission->backlog, need->kind, need->name, now);

    admission_leave(job);
    if (row && need->kind == 'm')
        backlog_close(row, now, fmax(opens, LIMIT_LEAST), need->max, need->per);
    else if (row)
        row->shut = now + SHUT_SECONDS;
    refuse(job, need, row);
}

/* --- asking Redis --- */

static void ask_next(struct later_job *job);

static void on_answer(void *arg, struct later_answer *answer)
{
    struct later_job *job = arg;
    struct lock_lease *lease = job->asking;
    double opens = 0;
    bool closed = false;
    struct need need;

    nth_need(job, job->asked, &need);
    job->asking = NULL;
    if (answer->outcome != LATER_ANSWERED) {
        if (lease)
            admission_lease_leave(job->worker->admission, lease, LEASE_LEFT);
        complain(job->worker->admission, need.name, answer->text);
        admission_leave(job);
        job->worker->admission->done(job, AWAY_SECONDS, need.name);
        return;
    }
    if (need.kind == 'm')
        closed = (opens = later_limit_wait(answer->reply)) > 0;
    else if (need.kind == 'p')
        closed = later_permit_wait(answer->reply) > 0;
    else
        closed = later_lock_taken(answer->reply, &lease->fence, NULL) != LATER_LOCK_YES;
    if (closed && lease)
        admission_lease_leave(job->worker->admission, lease, LEASE_NONE);
    else if (lease)
        atomic_store_explicit(&lease->state, LEASE_TAKEN, memory_order_release);
    if (closed) {
        on_closed(job, &need, opens);
    } else {
        job->asked++;
        ask_next(job);
    }
}

/* Encodes the question; what it may take is in the page by now. Returns false if the page is full.
 */
static bool question(struct later_job *job, const struct need *need, struct later_command *cmd)
{
    const struct worker *worker = job->worker;
    const char *prefix = worker->config->redis.prefix;
    double ttl = worker->config->lease;
    char owner[LATER_LOCK_OWNER_MAX + 1];

    if (need->kind == 'm') {
        later_limit_ask(cmd, prefix, need->name, need->max, need->per, need->sliding);
        return true;
    }
    job->asking = admission_lease_enter(job, need->kind == 'l' ? LEASE_LOCK : LEASE_PERMIT,
                                        need->name, need->max, ttl);
    if (!job->asking)
        return false;
    if (need->kind == 'p') {
        later_permit_take(cmd, prefix, need->name, job->asking->token, need->max, ttl);
        return true;
    }
    snprintf(owner, sizeof owner, "%s %s %s", worker->start->host, job->queue, job->id);
    later_lock_take(cmd, prefix, need->name, job->asking->token, owner, ttl, NULL);
    return true;
}

static void ask_next(struct later_job *job)
{
    struct worker *worker = job->worker;
    struct later_command cmd = { 0 };
    struct need need;

    while (nth_need(job, job->asked, &need) && need.kind == 'l' && admission_held(job, need.name))
        job->asked++; /* its document and its type name the same lock */
    if (!nth_need(job, job->asked, &need)) {
        worker->admission->done(job, -1, "");
        return;
    }
    if (question(job, &need, &cmd) &&
        link_send(worker->main, &cmd, LINK_TIMEOUT, on_answer, job) == 0) {
        worker_pump_soon(worker); /* which flushes */
        return;
    }
    if (job->asking) /* nothing could be sent */
        admission_lease_leave(worker->admission, job->asking, LEASE_NONE);
    job->asking = NULL;
    admission_leave(job);
    worker->admission->done(job, AWAY_SECONDS, need.name);
}

void admission_ask(struct later_job *job)
{
    const struct backlog *backlog = job->worker->admission->backlog;
    struct need need;
    double now = 0;

    for (uint32_t n = 0; nth_need(job, n, &need); n++) {
        struct backlog_row *row = backlog_find(backlog, need.kind, need.name);

        now = now > 0 ? now : later_clock();
        if (row && now < row->shut) {
            refuse(job, &need, row);
            return;
        }
    }
    job->asked = 0;
    ask_next(job);
}

/* --- lines --- */

void admission_settled(struct admission *admission, const struct slot *slot, bool lost)
{
    struct line_question **entry =
        &admission->returns[slot - admission->worker->slots->page->slots];

    if (!*entry)
        return;
    if (lost)
        line_drop(*entry);
    else
        line_ask(*entry);
    *entry = NULL;
    worker_pump_soon(admission->worker);
}

void admission_flush(struct admission *admission)
{
    line_flush(admission->line);
}

bool admission_open(const struct admission *admission)
{
    return line_open(admission->line) > 0;
}

static void look_soon(struct admission *admission)
{
    /* not all at once */
    timer_soon(admission->look, LOOK_SECONDS + (double)(worker_random() % 500000) / 1e6);
}

static void on_told(void *arg, const struct line_key *at, size_t waiting)
{
    struct admission *admission = arg;
    char kind = at && !at->lock ? 'p' : 'l';
    struct backlog_row *row;

    if (!at) {
        worker_pump_soon(admission->worker); /* what waited for the answers can go on */
        return;
    }
    row = waiting ? backlog_make(admission->backlog, kind, at->name, later_clock())
                  : backlog_find(admission->backlog, kind, at->name);
    if (!row)
        return;
    row->waiting = waiting;
    row->max = at->max;
    if (waiting)
        look_soon(admission);
}

static void look_after(void *arg, const struct backlog_row *row)
{
    struct admission *admission = arg;
    const struct line_key at = { row->kind == 'l', row->max, row->name };

    line_call_next(admission->line, &at);
}

/* Whoever should have called the next job may be dead, or may not be a laterd. */
static void on_look(void *arg)
{
    struct admission *admission = arg;

    if (backlog_each(admission->backlog, look_after, admission))
        look_soon(admission);
    worker_pump_soon(admission->worker); /* which flushes */
}

/* --- making and unmaking --- */

struct admission *admission_new(struct worker *worker, admission_done_fn *done)
{
    struct admission *admission = calloc(1, sizeof *admission);

    if (!admission)
        return NULL;
    admission->worker = worker;
    admission->done = done;
    admission->line = line_new(worker->main, worker->config->redis.prefix, on_told, admission);
    admission->backlog = backlog_new();
    admission->returns = calloc(worker->slots->capacity, sizeof(struct line_question *));
    admission->look = timer_new(worker->base, on_look, admission);
    if (admission->line && admission->backlog && admission->returns && admission->look)
        return admission;
    admission_free(admission);
    return NULL;
}

void admission_free(struct admission *admission)
{
    if (!admission)
        return;
    for (uint32_t i = 0; admission->returns && i < admission->worker->slots->capacity; i++)
        line_drop(admission->returns[i]);
    free(admission->returns);
    timer_free(admission->look);
    backlog_free(admission->backlog);
    line_free(admission->line);
    free(admission);
}
