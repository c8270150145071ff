/* admission.c: asks for what a job needs before it may run, one thing after the other. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/put_off.h"
#include "worker/state.h"

#include "base/clock.h"
#include "queue/lock.h"
#include "queue/permit.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHUT_SECONDS  0.002 /* before asking again for what was not free */
#define AWAY_SECONDS  1.0   /* if Redis does not answer */
#define QUIET_SECONDS 10.0  /* between two log lines about that */

bool admission_needed(const struct later_job *job)
{
    struct admission_need need;

    return admission_need(job, 0, &need);
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

/* It waits for its need `refused` now. So whatever else has called it need not keep its place. */
static void leave_lines(const struct later_job *job, uint32_t refused)
{
    struct admission *admission = job->worker->admission;
    const char *queue = job->from->keys.queue;
    struct admission_need need;

    for (uint32_t n = job->asked; admission_need(job, n, &need); n++) {
        const struct backlog_row *row = n == refused ? NULL : admission_row(admission, &need.line);

        if (row && row->waiting)
            line_leave(admission->line, &need.line, queue, job->id);
    }
}

/* The job enters the line when its return has been answered. Without memory, or as long as Redis's
 * clock is not known, it comes back by itself. behind: as in backlog_wait(). */
static void admission_refuse(struct later_job *job, uint32_t refused,
                             const struct admission_need *need, struct backlog_row *row,
                             int64_t behind)
{
    struct worker *worker = job->worker;
    struct admission *admission = worker->admission;
    double now = later_clock(), present = now + worker->redis_offset, due, waited;

    leave_lines(job, refused);
    if (worker->redis_offset == 0 || !row) {
        admission->done(job, AWAY_SECONDS, need->name);
        return;
    }
    due = present + backlog_wait(row, now, behind);
    later_line_text(job->line, &need->line);
    waited = job_waited(job->score, present);
    admission->returns[job->slot - worker->slots->page->slots] =
        line_entry(admission->line, &need->line, due, waited > 0 ? present - waited : 0,
                   job->from->keys.queue, job->id);
    admission->done(job, due, need->name);
}

/* What Redis has said. */
struct admission_answer {
    bool open;
    int64_t
        behind;   /* it is not, and so many are behind the job in the line; -1: the job is not there
                   */
    double opens; /* after so many seconds, if it is a limit */
};

/* Redis said no. */
static void on_closed(struct later_job *job, const struct admission_need *need,
                      const struct admission_answer *said)
{
    double now = later_clock();
    struct backlog_row *row = admission_row_made(job->worker->admission, &need->line);

    admission_leave(job);
    if (row) {
        row->shut = now + SHUT_SECONDS;
        row->opens = now + said->opens;
    }
    admission_refuse(job, job->asked, need, row, said->behind);
}

/* --- asking Redis --- */

static void admission_ask_next(struct later_job *job);

/* Reads the answer to the n-th job of the call: is it free? It may have been counted by a limit. */
static struct admission_answer admission_read(struct later_job *job, const struct later_line *line,
                                              const struct later_reply *reply, size_t n)
{
    struct admission_answer said = { .behind = -1 };
    struct later_limit_answer limit;

    if (line->what == LATER_LINE_LOCK) {
        said.open = later_lock_taken(reply, &job->asking->fence, NULL) == LATER_LOCK_YES;
    } else if (line->what == LATER_LINE_PERMIT) {
        said.open = later_permit_taken(reply, &said.behind);
    } else if (later_limit_taken(reply, n, &limit)) {
        said.open = true;
        admission_counted(job, line, &limit);
    } else {
        said.opens = limit.opens;
        said.behind = limit.behind;
    }
    return said;
}

/* Nobody has said whether it is free. */
static void admission_unasked(struct later_job *job, enum lock_lease_state state)
{
    struct admission *admission = job->worker->admission;
    struct admission_need need;

    admission_need(job, job->asked, &need);
    if (job->asking)
        admission_lease_leave(admission, job->asking, state);
    job->asking = NULL;
    admission_leave(job);
    admission->done(job, AWAY_SECONDS, need.name);
}

static void admission_take_answer(struct later_job *job, const struct later_answer *answer,
                                  size_t n)
{
    struct lock_lease *lease = job->asking;
    struct admission_need need;
    struct admission_answer said;

    admission_need(job, job->asked, &need);
    if (answer->outcome != LATER_ANSWERED) {
        complain(job->worker->admission, need.name, answer->text);
        admission_unasked(job, LEASE_LEFT);
        return;
    }
    said = admission_read(job, &need.line, answer->reply, n);
    job->asking = NULL;
    if (!said.open && lease)
        admission_lease_leave(job->worker->admission, lease, LEASE_NONE);
    else if (lease)
        atomic_store_explicit(&lease->state, LEASE_TAKEN, memory_order_release);
    if (!said.open) {
        on_closed(job, &need, &said);
    } else {
        job->asked++;
        admission_ask_next(job);
    }
}

static void admission_on_answer(void *arg, struct later_answer *answer)
{
    admission_take_answer(arg, answer, 0);
}

/* Those that ask the same limit before anything is sent. */
struct admission_crowd {
    struct admission_crowd *next;
    struct admission_need need;
    size_t count;
    struct later_job *jobs[LATER_LIMIT_MANY];
};

static void on_crowd(void *arg, struct later_answer *answer)
{
    struct admission_crowd *crowd = arg;

    for (size_t n = 0; n < crowd->count; n++)
        admission_take_answer(crowd->jobs[n], answer, n);
    free(crowd);
}

static void admission_send_crowd(struct admission *admission, struct admission_crowd *crowd)
{
    const struct worker *worker = admission->worker;
    struct later_command cmd = { 0 };
    struct later_line at = crowd->need.line;

    line_number(&at, worker->start->overlay);
    later_limit_take(&cmd, worker->config->redis.prefix, &at, crowd->count);
    for (size_t n = 0; n < crowd->count; n++) {
        line_waiter waiter;

        line_name(waiter, crowd->jobs[n]->from->keys.queue, crowd->jobs[n]->id);
        later_command_text(&cmd, waiter);
    }
    if (link_send(worker->main, &cmd, LINK_TIMEOUT, on_crowd, crowd) == 0)
        return;
    for (size_t n = 0; n < crowd->count; n++)
        admission_unasked(crowd->jobs[n], LEASE_NONE);
    free(crowd);
}

void admission_flush(struct admission *admission)
{
    struct admission_crowd *crowd;

    while ((crowd = admission->crowds)) {
        admission->crowds = crowd->next;
        admission_send_crowd(admission, crowd);
    }
    line_flush(admission->line);
}

/* Joins those that ask the same limit. False: no memory. */
static bool admission_join(struct later_job *job, const struct admission_need *need)
{
    struct admission_crowd **end = &job->worker->admission->crowds, *crowd = NULL;

    for (; *end; end = &(*end)->next) {
        const struct later_line *line = &(*end)->need.line;

        if ((*end)->count < LATER_LIMIT_MANY && strcmp(line->name, need->line.name) == 0 &&
            line->max == need->line.max && line->per == need->line.per &&
            line->sliding == need->line.sliding)
            crowd = *end;
    }
    if (!crowd) {
        crowd = malloc(sizeof *crowd);
        if (!crowd)
            return false;
        crowd->next = NULL;
        crowd->need = *need;
        crowd->need.line.name = crowd->need.name;
        crowd->count = 0;
        *end = crowd;
    }
    crowd->jobs[crowd->count++] = job;
    return true;
}

/* Encodes the question to a lock or for a permit; what it may take is in the page by now. Returns
 * false if the page is full.
 */
static bool question(struct later_job *job, const struct later_line *need,
                     struct later_command *cmd)
{
    const struct worker *worker = job->worker;
    const char *prefix = worker->config->redis.prefix;
    double ttl = worker->config->lease;
    bool lock = need->what == LATER_LINE_LOCK;
    char owner[LATER_LOCK_OWNER_MAX + 1];
    struct later_line at = *need;
    line_waiter waiter;

    line_name(waiter, job->from->keys.queue, job->id);
    job->asking =
        admission_lease_enter(job, lock ? LEASE_LOCK : LEASE_PERMIT, need->name, need->max, ttl);
    if (!job->asking)
        return false;
    if (!lock) {
        line_number(&at, worker->start->overlay);
        later_permit_take(cmd, prefix, at.name, job->asking->token, at.max, ttl, waiter);
        return true;
    }
    snprintf(owner, sizeof owner, "%s %s %s", worker->start->host, job->queue, job->id);
    later_lock_take(cmd, prefix, need->name, job->asking->token, owner, ttl, NULL, waiter);
    return true;
}

static void admission_ask_next(struct later_job *job)
{
    struct worker *worker = job->worker;
    struct later_command cmd = { 0 };
    struct admission_need need;

    while (admission_need(job, job->asked, &need) && need.line.what == LATER_LINE_LOCK &&
           admission_held(job, need.name))
        job->asked++; /* its document and its type name the same lock */
    if (!admission_need(job, job->asked, &need)) {
        worker->admission->done(job, -1, "");
        return;
    }
    if (need.line.what == LATER_LINE_LIMIT
            ? admission_join(job, &need)
            : question(job, &need.line, &cmd) &&
                  link_send(worker->main, &cmd, LINK_TIMEOUT, admission_on_answer, job) == 0)
        worker_pump_soon(worker); /* which flushes */
    else
        admission_unasked(job, LEASE_NONE); /* nothing could be sent */
}

void admission_ask(struct later_job *job)
{
    struct admission_need need;
    double now = 0;

    job->asked = 0;
    for (uint32_t n = 0; admission_need(job, n, &need); n++) {
        struct backlog_row *row = admission_row(job->worker->admission, &need.line);

        now = now > 0 ? now : later_clock();
        if (row && now < row->shut) {
            admission_refuse(job, n, &need, row, -1);
            return;
        }
    }
    admission_ask_next(job);
}

/* --- making and unmaking --- */

struct admission *admission_new(struct worker *worker, admission_done_fn *done)
{
    struct admission *admission = calloc(1, sizeof *admission);

    if (!admission)
        return NULL;
    admission->worker = worker;
    admission->done = done;
    admission->backlog = backlog_new();
    admission->returns = calloc(worker->slots->capacity, sizeof(struct line_question *));
    if (admission->backlog && admission->returns && admission_line_begin(admission) == 0)
        return admission;
    admission_free(admission);
    return NULL;
}

void admission_free(struct admission *admission)
{
    struct admission_crowd *next;

    if (!admission)
        return;
    for (struct admission_crowd *crowd = admission->crowds; crowd; crowd = next) {
        next = crowd->next;
        free(crowd);
    }
    for (uint32_t i = 0; admission->returns && i < admission->worker->slots->capacity; i++)
        line_drop(admission->returns[i]);
    free(admission->returns);
    timer_free(admission->look);
    backlog_free(admission->backlog);
    put_off_free(admission->off);
    line_free(admission->line);
    free(admission);
}
