/* admission.c: asks for what a job needs before it may run, one thing after the other. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/state.h"

#include "base/clock.h"
#include "queue/lock.h"
#include "queue/permit.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Reads the answer: is it free? It may have been counted by a limit. */
static struct admission_answer admission_read(struct later_job *job, const struct later_line *line,
                                              const struct later_reply *reply)
{
    struct admission_answer said = { .behind = -1 };
    struct later_limit_answer limit;

    if (line->what == LATER_LINE_LOCK) {
        said.open = later_lock_taken(reply, &job->asking->fence, NULL) == LATER_LOCK_YES;
    } else if (line->what == LATER_LINE_PERMIT) {
        said.open = later_permit_taken(reply, &said.behind);
    } else if (later_limit_taken(reply, &limit)) {
        said.open = true;
        admission_counted(job, line, &limit);
    } else {
        said.opens = limit.opens;
        said.behind = limit.behind;
    }
    return said;
}

static void admission_on_answer(void *arg, struct later_answer *answer)
{
    struct later_job *job = arg;
    struct lock_lease *lease = job->asking;
    struct admission_need need;
    struct admission_answer said;

    admission_need(job, job->asked, &need);
    if (answer->outcome != LATER_ANSWERED) {
        job->asking = NULL;
        if (lease)
            admission_lease_leave(job->worker->admission, lease, LEASE_LEFT);
        complain(job->worker->admission, need.name, answer->text);
        admission_leave(job);
        job->worker->admission->done(job, AWAY_SECONDS, need.name);
        return;
    }
    said = admission_read(job, &need.line, answer->reply);
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

/* Encodes the question; what it may take is in the page by now. Returns false if the page is full.
 */
static bool question(struct later_job *job, const struct later_line *need,
                     struct later_command *cmd)
{
    const struct worker *worker = job->worker;
    const char *prefix = worker->config->redis.prefix;
    double ttl = worker->config->lease;
    bool lock = need->what == LATER_LINE_LOCK;
    char owner[LATER_LOCK_OWNER_MAX + 1];
    line_waiter waiter;

    line_name(waiter, job->from->keys.queue, job->id);
    if (need->what == LATER_LINE_LIMIT) {
        later_limit_take(cmd, prefix, need, waiter);
        return true;
    }
    job->asking =
        admission_lease_enter(job, lock ? LEASE_LOCK : LEASE_PERMIT, need->name, need->max, ttl);
    if (!job->asking)
        return false;
    if (!lock) {
        later_permit_take(cmd, prefix, need->name, job->asking->token, need->max, ttl, waiter);
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
    if (question(job, &need.line, &cmd) &&
        link_send(worker->main, &cmd, LINK_TIMEOUT, admission_on_answer, job) == 0) {
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
