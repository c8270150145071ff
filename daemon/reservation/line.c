/* line.c: the lines of jobs that wait for locks, permits and limits. */
#include "reservation/line.h"

#include "base/clock.h"
#include "overlay.h"
#include "timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_SECONDS 1.1 /* by then no place is kept any more for a job that was called */
#define TRIES         20

struct line {
    struct link *link;
    const char *prefix;
    const struct overlay *overlay; /* NULL: nothing is laid over anything */
    line_told_fn *told;
    void *arg;
    struct line_question *first, **last; /* asked, not sent */
    struct line_question *late;          /* without an answer; asked again by the timer */
    struct timer *again;
    size_t open, entering;
};

struct line_question {
    struct line *line;
    struct line_question *next;
    struct slot *slot; /* of the job that enters, until it is in the line; or NULL */
    unsigned tries;
    struct later_line at;
    double due; /* 0: waiter does not come */
    double since;
    char name[LATER_LOCK_MAX + 1];
    line_waiter waiter; /* "" = nobody enters */
};

static void line_ask(struct line_question *question)
{
    struct line *line = question->line;

    question->next = NULL;
    *line->last = question;
    line->last = &question->next;
    line->open++;
}

static void line_on_again(void *arg)
{
    struct line *line = arg;
    struct line_question *next;

    for (struct line_question *question = line->late; question; question = next) {
        next = question->next;
        line_ask(question);
    }
    line->late = NULL;
    line_flush(line);
    link_flush(line->link);
}

struct line *line_new(struct event_base *base, struct link *link, const char *prefix,
                      line_told_fn *told, void *arg)
{
    struct line *line = malloc(sizeof *line);

    if (!line)
        return NULL;
    *line = (struct line){ .link = link, .prefix = prefix, .told = told, .arg = arg };
    line->last = &line->first;
    line->again = timer_new(base, line_on_again, line);
    if (line->again)
        return line;
    free(line);
    return NULL;
}

void line_heed(struct line *line, const struct overlay *overlay)
{
    line->overlay = overlay;
}

void line_number(struct later_line *at, const struct overlay *overlay)
{
    struct later_numbers numbers;

    if (!overlay || at->what == LATER_LINE_LOCK ||
        !overlay_numbers(overlay, at->what, at->name, later_clock(), &numbers))
        return;
    at->max = numbers.max;
    if (numbers.per > 0 && at->what == LATER_LINE_LIMIT)
        at->per = numbers.per;
}

static void free_all(struct line_question *question)
{
    struct line_question *next;

    for (; question; question = next) {
        next = question->next;
        free(question);
    }
}

void line_free(struct line *line)
{
    if (!line)
        return;
    free_all(line->first);
    free_all(line->late);
    timer_free(line->again);
    free(line);
}

void line_name(line_waiter waiter, const char *queue, const char *id)
{
    snprintf(waiter, sizeof(line_waiter), "%s %s", queue, id);
}

static struct line_question *line_question_new(struct line *line, const struct later_line *at)
{
    struct line_question *question = calloc(1, sizeof *question);

    if (!question)
        return NULL;
    question->line = line;
    question->at = *at;
    snprintf(question->name, sizeof question->name, "%s", at->name);
    question->at.name = question->name;
    return question;
}

struct line_question *line_entry(struct line *line, const struct later_line *at, double due,
                                 double since, const char *queue, const char *id)
{
    struct line_question *question = line_question_new(line, at);

    if (!question)
        return NULL;
    question->due = due;
    question->since = since;
    line_name(question->waiter, queue, id);
    return question;
}

/* It is in the line, or nobody tries any more. */
static void line_let_go(struct line_question *question)
{
    if (!question->slot)
        return;
    atomic_store_explicit(&question->slot->state, SLOT_FREE, memory_order_release);
    question->slot = NULL;
    question->line->entering--;
}

void line_enter(struct line_question *question, struct slot *slot)
{
    question->slot = slot;
    question->line->entering += slot != NULL;
    line_ask(question);
}

void line_drop(struct line_question *question)
{
    free(question);
}

void line_call_next(struct line *line, const struct later_line *at)
{
    struct line_question *question = line_question_new(line, at);

    if (question)
        line_ask(question);
}

void line_leave(struct line *line, const struct later_line *at, const char *queue, const char *id)
{
    struct line_question *question = line_entry(line, at, 0, 0, queue, id);

    if (question)
        line_ask(question);
}

static void line_end(struct line_question *question)
{
    struct line *line = question->line;

    line_let_go(question);
    free(question);
    if (--line->open == 0 && line->told)
        line->told(line->arg, NULL, NULL, "", 0);
}

/* Redis may have done it or not: it does no harm twice. Meanwhile handlers may block the loop. */
static void line_again(struct line_question *question)
{
    struct line *line = question->line;

    if (++question->tries >= TRIES) {
        line_end(question);
        return;
    }
    question->next = line->late;
    line->late = question;
    timer_soon(line->again, AGAIN_SECONDS);
    if (--line->open == 0 && line->told)
        line->told(line->arg, NULL, NULL, "", 0);
}

/* --- its answers --- */

/* The job that the question names does not come, so the next one gets its turn. */
static void ask_again(struct line_question *question)
{
    struct line *line = question->line;

    line->open--;
    line_ask(question);
    line_flush(line);
    link_flush(line->link);
}

/* The line calls it once more, when it has not come for a second. */
static void call_lost(struct line_question *question)
{
    question->waiter[0] = '\0';
    line_again(question);
}

static void on_hastened(void *arg, struct later_answer *answer)
{
    struct line_question *question = arg;

    if (answer->outcome != LATER_ANSWERED)
        call_lost(question);
    else if (later_reply_int(answer->reply) == 0)
        ask_again(question);
    else
        line_end(question);
}

/* Makes a job ready that was called. The question is not over before that is answered. */
static void line_hasten(struct line_question *question, const struct later_called *job)
{
    const struct line *line = question->line;
    const char *id = strchr(job->waiter, ' ');
    char queue[LATER_QUEUE_MAX + 1];
    struct later_command cmd = { 0 };
    struct later_keys keys;

    snprintf(question->waiter, sizeof question->waiter, "%s", job->waiter);
    if (!id ||
        snprintf(queue, sizeof queue, "%.*s", (int)(id - job->waiter), job->waiter) >=
            (int)sizeof queue ||
        !later_key_shard_valid(queue)) {
        ask_again(question); /* another program's */
        return;
    }
    later_keys_init(&keys, line->prefix, queue);
    later_line_hasten(&cmd, &keys, job, id + 1);
    if (link_send(line->link, &cmd, LINK_TIMEOUT, on_hastened, question) < 0)
        call_lost(question);
}

static void line_on_answer(void *arg, struct later_answer *answer)
{
    struct line_question *question = arg;
    struct line *line = question->line;
    struct later_line_answer seen = { 0 };

    if (answer->outcome == LATER_REFUSED && answer->remedy == LATER_REMEDY_ABANDON) {
        line_end(question);
        return;
    }
    if (answer->outcome != LATER_ANSWERED) {
        line_again(question);
        return;
    }
    line_let_go(question);
    later_line_answer(answer->reply, &seen);
    if (line->told)
        line->told(line->arg, &question->at, &seen, question->due > 0 ? question->waiter : "",
                   question->due);
    for (size_t i = 0; i < seen.called; i++) {
        struct line_question *another = line_question_new(line, &question->at);
        struct later_called job;

        if (!another)
            break; /* no memory: in a second somebody asks again */
        line->open++;
        later_line_called(answer->reply, i, &job);
        line_hasten(another, &job);
    }
    if (seen.called)
        link_flush(line->link);
    line_end(question);
}

void line_flush(struct line *line)
{
    struct line_question *question;

    while ((question = line->first)) {
        struct later_command cmd = { 0 };
        struct later_line at = question->at;

        line->first = question->next;
        if (!line->first)
            line->last = &line->first;
        line_number(&at, line->overlay);
        later_line_ask(&cmd, line->prefix, &at, question->due, question->since, question->waiter);
        if (link_send(line->link, &cmd, LINK_TIMEOUT, line_on_answer, question) < 0)
            line_again(question);
    }
}

size_t line_open(const struct line *line)
{
    return line->open;
}

size_t line_entering(const struct line *line)
{
    return line->entering;
}
