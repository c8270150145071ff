/* admission_line.c: the lines in which jobs wait, seen from a worker; what limits have counted. */
#include "worker/admission.h"
#include "reservation/job.h"
#include "worker/put_off.h"
#include "worker/state.h"

#include "base/clock.h"
#include "timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_SECONDS 0.75 /* between two looks at a line, plus up to half a second */
#define KEPT_SECONDS 0.05 /* the same if a limit is open, but kept for a job that was called */
#define LIMIT_LEAST  0.01 /* a limit that opens sooner is not looked at sooner */
#define LIMIT_SLACK  0.001

static const char kinds[] = {
    [LATER_LINE_LOCK] = 'l', [LATER_LINE_PERMIT] = 'p', [LATER_LINE_LIMIT] = 'm'
};

struct backlog_row *admission_row(const struct admission *admission, const struct later_line *at)
{
    return backlog_find(admission->backlog, kinds[at->what], at->name);
}

struct backlog_row *admission_row_made(struct admission *admission, const struct later_line *at)
{
    struct backlog_row *row =
        backlog_make(admission->backlog, kinds[at->what], at->name, later_clock());

    if (row) {
        row->max = at->max;
        row->per = at->per;
        row->sliding = at->sliding;
    }
    return row;
}

void admission_settled(struct admission *admission, struct slot *slot, bool lost)
{
    struct line_question **entry =
        &admission->returns[slot - admission->worker->slots->page->slots];

    if (*entry && !lost) {
        line_enter(*entry, slot);
    } else if (slot_ending(slot) == LATER_ENDED_LINE) {
        line_drop(*entry);
        atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
    } else {
        return;
    }
    *entry = NULL;
    worker_pump_soon(admission->worker);
}

bool admission_open(const struct admission *admission)
{
    return line_open(admission->line) > 0 || admission->freeing > 0;
}

bool admission_looks_after(const struct admission *admission)
{
    return admission->look_at > 0;
}

size_t admission_entering(const struct admission *admission)
{
    return line_entering(admission->line);
}

/* --- looking after those who wait --- */

static double a_while(double now)
{
    return now + LOOK_SECONDS + (double)(worker_random() % 500000) / 1e6; /* not all at once */
}

static void admission_line_look_at(struct admission *admission, struct backlog_row *row,
                                   double when)
{
    row->look = when;
    if (admission->look_at > 0 && admission->look_at <= when)
        return;
    admission->look_at = when;
    timer_in(admission->look, when - later_clock());
}

/* A limit is looked at when it opens, by all workers that know of it: the one that has taken the
 * last place may be running its job by then. */
static void admission_line_wait_on(struct admission *admission, struct backlog_row *row,
                                   size_t waiting, double opens)
{
    double now = later_clock(), when = a_while(now);

    row->waiting = waiting;
    row->opens = now + opens;
    if (waiting && row->per > 0)
        when =
            fmin(when, now + (opens > 0 ? fmax(opens, LIMIT_LEAST) + LIMIT_SLACK : KEPT_SECONDS));
    if (waiting)
        admission_line_look_at(admission, row, when);
}

static void admission_line_put_off(struct admission *admission, double now)
{
    if (admission->worker->redis_offset != 0)
        put_off_send(admission->off, now, now + admission->worker->redis_offset);
}

static void admission_line_on_told(void *arg, const struct later_line *at,
                                   const struct later_line_answer *answer, const char *waiter,
                                   double due)
{
    struct admission *admission = arg;
    struct backlog_row *row;
    size_t waiting;

    if (!at) {
        worker_pump_soon(admission->worker); /* what waited for the answers can go on */
        return;
    }
    waiting = answer->waiting + answer->called; /* a call may be lost */
    row = waiting ? admission_row_made(admission, at) : admission_row(admission, at);
    if (!row)
        return;
    admission_line_wait_on(admission, row, waiting, answer->opens);
    if (answer->called)
        row->shut = 0;
    if (*waiter && put_off_enter(admission->off, row, waiter, due)) {
        admission_line_put_off(admission, later_clock());
        worker_pump_soon(admission->worker); /* which flushes */
    }
}

static void admission_line_look_after(void *arg, struct backlog_row *row)
{
    struct admission *admission = arg;
    const struct later_line at = { .what = row->kind == 'l'   ? LATER_LINE_LOCK
                                           : row->kind == 'p' ? LATER_LINE_PERMIT
                                                              : LATER_LINE_LIMIT,
                                   .max = row->max,
                                   .per = row->per,
                                   .sliding = row->sliding,
                                   .name = row->name };

    row->look = a_while(later_clock());
    line_call_next(admission->line, &at);
}

/* Whoever should have called the next job may be dead, or may not be a laterd. A limit opens by
 * itself. */
static void admission_line_on_look(void *arg)
{
    struct admission *admission = arg;
    double now = later_clock();

    admission->look_at =
        backlog_each(admission->backlog, now, admission_line_look_after, admission);
    if (admission->look_at > 0)
        timer_in(admission->look, admission->look_at - now);
    admission_line_put_off(admission, now);
    worker_pump_soon(admission->worker); /* which flushes */
}

/* Of several limits of one name the first counts. */
static bool admission_still_needs(const struct later_job *job, const struct later_line *line,
                                  struct admission_need *need)
{
    for (uint32_t n = 0; admission_need(job, n, need); n++) {
        if (need->line.what == line->what && strcmp(need->line.name, line->name) == 0)
            return true;
    }
    return false;
}

void admission_stand_back(const struct later_job *job, bool comes)
{
    struct admission *admission = job->worker->admission;
    struct admission_need need;
    struct later_line line;

    if (!later_line_unlimited(job->line, &line))
        return;
    if (admission_still_needs(job, &line, &need)) {
        if (comes)
            return;
        line = need.line;
    }
    line_leave(admission->line, &line, job->from->keys.queue, job->id);
    worker_pump_soon(job->worker); /* which flushes */
}

int admission_line_begin(struct admission *admission)
{
    const struct worker *worker = admission->worker;

    admission->line = line_new(worker->base, worker->main, worker->config->redis.prefix,
                               admission_line_on_told, admission);
    admission->look = timer_new(worker->base, admission_line_on_look, admission);
    admission->off = put_off_new(worker->main, worker->config->redis.prefix, admission->backlog);
    if (!admission->line || !admission->look || !admission->off)
        return -1;
    line_heed(admission->line, worker->start->overlay);
    return 0;
}

/* --- what limits have counted --- */

struct admission_count {
    struct admission_count *next;
    struct later_line at;
    double when;
    char name[LATER_LOCK_MAX + 1];
};

void admission_counted(struct later_job *job, const struct later_line *at,
                       const struct later_limit_answer *answer)
{
    struct admission *admission = job->worker->admission;
    struct backlog_row *row =
        answer->waiting ? admission_row_made(admission, at) : admission_row(admission, at);
    struct admission_count *count = malloc(sizeof *count);

    if (row)
        admission_line_wait_on(admission, row, answer->waiting, answer->opens);
    if (!count)
        return; /* it cannot be given back then */
    *count = (struct admission_count){ .next = job->counts, .at = *at, .when = answer->at };
    snprintf(count->name, sizeof count->name, "%s", at->name);
    count->at.name = count->name;
    job->counts = count;
}

/* If that is lost, it stays counted until its time is over. */
void admission_uncount(struct later_job *job)
{
    const struct worker *worker = job->worker;

    for (const struct admission_count *count = job->counts; count; count = count->next) {
        struct later_command cmd = { 0 };

        later_limit_free(&cmd, worker->config->redis.prefix, &count->at, count->when);
        link_send(worker->main, &cmd, LINK_TIMEOUT, NULL, NULL);
        line_call_next(worker->admission->line, &count->at);
    }
    admission_forget(job);
}

/* Without an answer its place is taken a little longer. */
void admission_begun(struct later_job *job)
{
    const struct worker *worker = job->worker;

    if (!job->counts)
        return;
    for (const struct admission_count *count = job->counts; count; count = count->next) {
        struct later_command cmd = { 0 };
        struct later_line at = count->at;

        if (!at.sliding)
            continue;
        line_number(&at, worker->start->overlay);
        later_limit_begun(&cmd, worker->config->redis.prefix, &at, count->when);
        link_send(worker->main, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    link_flush(worker->main);
    admission_forget(job);
}

void admission_forget(struct later_job *job)
{
    struct admission_count *next;

    for (struct admission_count *count = job->counts; count; count = next) {
        next = count->next;
        free(count);
    }
    job->counts = NULL;
}
