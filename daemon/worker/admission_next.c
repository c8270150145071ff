/* admission_next.c: the lines of those who wait for locks and places. */
#include "worker/admission.h"
#include "reservation/job.h"

#include "base/clock.h"
#include "queue/permit.h"
#include "worker/backlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASTEN_SLACK 1.0 /* a job due later than we know of waits for something else */

void admission_note_waiting(const struct later_job *job, enum admission_kind kind, const char *name,
                            double wait)
{
    struct worker *worker = job->worker;
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX], member[LATER_QUEUE_MAX + LATER_ID_MAX + 2];

    if (!worker->redis_offset)
        return;
    later_key_waiting(key, worker->config->redis.prefix, kind == ADMISSION_LOCK, name);
    snprintf(member, sizeof member, "%s %s", worker->queues[job->slot->queue].keys.queue, job->id);
    later_command_begin(&cmd, 4);
    later_command_text(&cmd, "ZADD");
    later_command_text(&cmd, key);
    later_command_seconds(&cmd, later_clock() + worker->redis_offset + wait);
    later_command_text(&cmd, member);
    link_send(worker->main, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "PEXPIRE");
    later_command_text(&cmd, key);
    later_command_int(&cmd, (int64_t)(2 * BACKLOG_MOST * 1000));
    link_send(worker->main, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
}

/* The call of the next one: two answers to wait for. */
struct calling {
    struct worker *worker;
    enum admission_kind kind;
    char name[LATER_LOCK_MAX + 1];
};

static void call_next(struct calling *calling);

/* Who was not there any more leaves its turn to the next. */
static void on_hastened(void *arg, struct later_answer *answer)
{
    if (answer->outcome == LATER_ANSWERED && later_reply_int(answer->reply) == 0)
        call_next(arg);
    else
        free(arg);
}

/* A job of a queue that is not ours is left to its turn. */
static const struct later_keys *keys_of(const struct worker *worker, const char *member, size_t len)
{
    for (uint32_t i = 0; i < worker->queue_count; i++) {
        const struct later_keys *keys = &worker->queues[i].keys;

        if (strlen(keys->queue) == len && memcmp(keys->queue, member, len) == 0)
            return keys;
    }
    return NULL;
}

static void on_next(void *arg, struct later_answer *answer)
{
    struct calling *calling = arg;
    struct worker *worker = calling->worker;
    const char *member = "", *id = NULL;
    const struct later_keys *keys = NULL;
    struct later_command cmd = { 0 };

    if (answer->outcome == LATER_ANSWERED && later_reply_count(answer->reply) == 2) {
        member = later_reply_text(later_reply_at(answer->reply, 0), NULL);
        id = strchr(member, ' ');
    }
    if (id)
        keys = keys_of(worker, member, (size_t)(id - member));
    if (!keys) {
        free(calling);
        return;
    }
    later_permit_hasten(&cmd, keys,
                        later_reply_seconds(later_reply_at(answer->reply, 1), 0) + HASTEN_SLACK,
                        id + 1);
    if (link_send(worker->main, &cmd, LATER_SCRIPT_HASTEN, LINK_TIMEOUT, on_hastened, calling) < 0)
        free(calling);
    else
        link_flush(worker->main);
}

static void call_next(struct calling *calling)
{
    struct worker *worker = calling->worker;
    struct later_command cmd = { 0 };

    later_permit_next(&cmd, worker->config->redis.prefix, calling->kind == ADMISSION_LOCK,
                      calling->name);
    if (link_send(worker->main, &cmd, LATER_SCRIPT_WAIT_NEXT, LINK_TIMEOUT, on_next, calling) < 0)
        free(calling);
    else
        link_flush(worker->main);
}

void admission_call_next(struct worker *worker, enum admission_kind kind, const char *name)
{
    struct calling *calling = malloc(sizeof *calling);

    if (!calling)
        return;
    *calling = (struct calling){ .worker = worker, .kind = kind };
    snprintf(calling->name, sizeof calling->name, "%s", name);
    call_next(calling);
}
