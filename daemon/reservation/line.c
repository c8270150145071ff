/* line.c: the lines of jobs that wait for locks and permits. */
#include "reservation/line.h"

#include "job/document.h"
#include "queue/permit.h"
#include "redis/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    struct link *link;
    const char *prefix;
    line_told_fn *told;
    void *arg;
    struct line_question *first, **last; /* asked, not sent */
    size_t open;
};

struct line_question {
    struct line *line;
    struct line_question *next;
    bool lock;
    uint32_t max;
    double wait;
    char name[LATER_LOCK_MAX + 1];
    char waiter[LATER_QUEUE_MAX + LATER_ID_MAX + 2]; /* "" = nobody enters */
};

struct line *line_new(struct link *link, const char *prefix, line_told_fn *told, void *arg)
{
    struct line *line = malloc(sizeof *line);

    if (!line)
        return NULL;
    *line = (struct line){ .link = link, .prefix = prefix, .told = told, .arg = arg };
    line->last = &line->first;
    return line;
}

void line_free(struct line *line)
{
    struct line_question *next;

    if (!line)
        return;
    for (struct line_question *question = line->first; question; question = next) {
        next = question->next;
        free(question);
    }
    free(line);
}

struct line_question *line_entry(struct line *line, const struct line_key *key, double wait,
                                 const char *queue, const char *id)
{
    struct line_question *question = malloc(sizeof *question);

    if (!question)
        return NULL;
    *question =
        (struct line_question){ .line = line, .lock = key->lock, .max = key->max, .wait = wait };
    snprintf(question->name, sizeof question->name, "%s", key->name);
    if (*id)
        snprintf(question->waiter, sizeof question->waiter, "%s %s", queue, id);
    return question;
}

void line_ask(struct line_question *question)
{
    struct line *line = question->line;

    question->next = NULL;
    *line->last = question;
    line->last = &question->next;
    line->open++;
}

void line_drop(struct line_question *question)
{
    free(question);
}

void line_call_next(struct line *line, const struct line_key *key)
{
    struct line_question *question = line_entry(line, key, 0, "", "");

    if (question)
        line_ask(question);
}

static void end(struct line_question *question)
{
    struct line *line = question->line;

    free(question);
    if (--line->open == 0 && line->told)
        line->told(line->arg, NULL, 0);
}

/* --- its answers --- */

/* If the job was not there, the next one gets its turn. */
static void on_hastened(void *arg, struct later_answer *answer)
{
    struct line_question *question = arg;
    struct line *line = question->line;

    if (answer->outcome == LATER_ANSWERED && later_reply_int(answer->reply) == 0) {
        line->open--;
        line_ask(question);
        line_flush(line);
        link_flush(line->link);
    } else {
        end(question);
    }
}

/* Makes a job due that was called. The question is not over before that is answered. */
static void hasten(struct line_question *question, const char *waiter, double due)
{
    const struct line *line = question->line;
    const char *id = strchr(waiter, ' ');
    char queue[LATER_QUEUE_MAX + 1];
    struct later_command cmd = { 0 };
    struct later_keys keys;

    question->waiter[0] = '\0';
    if (!id ||
        snprintf(queue, sizeof queue, "%.*s", (int)(id - waiter), waiter) >= (int)sizeof queue ||
        !later_key_shard_valid(queue)) {
        end(question);
        return;
    }
    later_keys_init(&keys, line->prefix, queue);
    later_permit_hasten(&cmd, &keys, due, id + 1);
    if (link_send(line->link, &cmd, LINK_TIMEOUT, on_hastened, question) < 0)
        end(question);
}

static void on_answer(void *arg, struct later_answer *answer)
{
    struct line_question *question = arg;
    struct line *line = question->line;
    const struct line_key key = { question->lock, question->max, question->name };
    size_t called = answer->outcome == LATER_ANSWERED ? later_permit_called(answer->reply) : 0;

    if (answer->outcome == LATER_ANSWERED && line->told)
        line->told(line->arg, &key, later_permit_waiting(answer->reply));
    for (size_t i = 0; i < called; i++) {
        struct line_question *another = line_entry(line, &key, 0, "", "");
        double due;
        const char *waiter = later_permit_next(answer->reply, i, &due);

        if (!another)
            break; /* no memory: in a second somebody asks again */
        line->open++;
        hasten(another, waiter, due);
    }
    if (called)
        link_flush(line->link);
    end(question);
}

void line_flush(struct line *line)
{
    struct line_question *question;

    while ((question = line->first)) {
        struct later_command cmd = { 0 };

        line->first = question->next;
        if (!line->first)
            line->last = &line->first;
        later_permit_line(&cmd, line->prefix, question->lock, question->name, question->max,
                          question->wait, question->waiter);
        if (link_send(line->link, &cmd, LINK_TIMEOUT, on_answer, question) < 0)
            end(question);
    }
}

size_t line_open(const struct line *line)
{
    return line->open;
}
