/* work_take.c: what `later work` takes jobs from, and taking them. */
#include "work/work.h"

#include "base/clock.h"
#include "whole.h"

#include <math.h>
#include <string.h>

#define PLAN_AGE   5.0 /* seconds after which the plans of shards are read again */
#define RETRY_WAIT 1.0 /* seconds, if Redis is away */

/* --- runners --- */

size_t work_count(const struct work *work, enum runner_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < work->runner_count; i++)
        count += work->runners[i].state == state;
    return count;
}

static struct runner *free_seat(struct work *work)
{
    for (size_t i = 0; i < work->runner_count; i++) {
        if (work->runners[i].state == RUNNER_FREE)
            return &work->runners[i];
    }
    return NULL;
}

size_t work_wanted(const struct work *work)
{
    size_t free_runners = work_count(work, RUNNER_FREE);

    if (work->stop || work->broken)
        return 0;
    if (work->left >= 0 && (uint64_t)work->left < free_runners)
        return (size_t)work->left;
    return free_runners;
}

void work_note_failure(struct work *work, const struct later_error *err)
{
    if (err->code != LATER_E_REDIS) {
        if (!work->broken)
            work->failure = *err;
        work->broken = true;
        return;
    }
    if (work->retry_at <= 0)
        cli_say(work->cli, "%s; it is tried again", err->text);
    work->retry_at = later_clock() + RETRY_WAIT;
}

bool work_redis_is_away(const struct work *work)
{
    return work->retry_at > 0 && later_clock() < work->retry_at;
}

/* --- the queues and their shards --- */

/* Finds the entries of one word of the command line. Returns how many. */
static size_t queues_of(const struct work *work, size_t word, size_t queues[WORK_QUEUES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < work->queue_count; i++) {
        if (work->queues[i].word == word)
            queues[count++] = i;
    }
    return count;
}

static bool work_take_is_known(const struct work *work, size_t word, const struct later_keys *keys)
{
    for (size_t i = 0; i < work->queue_count; i++) {
        if (work->queues[i].word == word && strcmp(work->queues[i].keys.queue, keys->queue) == 0)
            return true;
    }
    return false;
}

static int add_queue(struct work *work, size_t word, const struct later_keys *keys,
                     struct later_error *err)
{
    if (work_take_is_known(work, word, keys))
        return 0;
    if (work->queue_count == WORK_QUEUES_MAX)
        return later_fail(err, LATER_E_USAGE, "more than %d queues, with their shards",
                          WORK_QUEUES_MAX);
    work->queues[work->queue_count] = (struct work_queue){ .keys = *keys, .word = word };
    if (wake_listener_add(&work->listener, &work->queues[work->queue_count].keys, err) < 0)
        return -1;
    work->queue_count++;
    return 0;
}

int work_find_queues(struct work *work, struct later_error *err)
{
    work->plan_at = later_clock() + PLAN_AGE;
    for (int word = 0; word < work->cli->args.count; word++) {
        struct whole whole;
        int ok = whole_find(work->cli, work->cli->args.words[word], &whole, err);

        for (size_t i = 0; ok == 0 && i < whole.count; i++)
            ok = add_queue(work, (size_t)word, &whole.parts[i], err);
        if (ok < 0)
            return -1;
    }
    return 0;
}

/* --- taking --- */

static void work_take_give_back(struct work *work, const struct later_keys *keys, const char *token,
                                const struct later_reserved *job)
{
    struct later_settlement back = { .token = token, .id = job->id };
    struct later_error ignored;

    (void)take_settle(work->cli, keys, LATER_VERB_RETURN, 0, &back, &ignored);
}

/* Starts one job that was taken, or returns it if it cannot be started. */
static int work_take_begin(void *arg, const struct later_keys *keys, const char *token,
                           const struct later_reserved *job, double now, struct later_error *err)
{
    struct work *work = arg;
    struct runner *runner = free_seat(work);
    struct later_document doc;
    struct later_policy policy;
    bool runs = false;

    if (work->broken || !runner) {
        work_take_give_back(work, keys, token, job);
        return 0;
    }
    if (take_screen(&work->taker, keys, token, job, now, &doc, &policy, &runs, err) < 0) {
        work_note_failure(work, err);
    } else if (runs &&
               runner_begin(runner, &work->shared, keys, token, job, &doc, &policy, err) < 0) {
        work_take_give_back(work, keys, token, job);
        work_note_failure(work, err);
    } else if (runs && work->left > 0) {
        work->left--;
    }
    return 0;
}

/* Takes jobs from one queue for all free runners. Returns how many came, or -1 with *err. */
static int take_from(struct work *work, size_t queue, struct later_error *err)
{
    size_t limit = work_wanted(work);
    int count =
        take_jobs(&work->taker, &work->queues[queue].keys,
                  limit < LATER_BATCH_MAX ? limit : LATER_BATCH_MAX, work_take_begin, work, err);

    if (count >= 0)
        wake_listener_follow(&work->listener, queue);
    return count;
}

int work_promote(struct work *work, struct later_error *err)
{
    work->look_at = later_clock() + TAKE_LOOK;
    for (size_t i = 0; i < work->queue_count; i++) {
        double next;

        if (take_due(&work->taker, &work->queues[i].keys, &next, err) < 0)
            return -1;
        if (next >= 0)
            work->look_at = fmin(work->look_at, later_clock() + next);
    }
    return 0;
}

/* Goes once over the queues, in their order, and over the shards of each, in turn, while runners
 * are free. Returns as take_from(). */
static int take_round(struct work *work, struct later_error *err)
{
    size_t queues[WORK_QUEUES_MAX];
    int sum = 0;

    for (int word = 0; word < work->cli->args.count; word++) {
        size_t all = queues_of(work, (size_t)word, queues);

        for (size_t i = 0; i < all && work_wanted(work) > 0; i++) {
            int count = take_from(work, queues[(work->turn + i) % all], err);

            if (count < 0)
                return -1;
            sum += count;
        }
    }
    work->turn++;
    return sum;
}

void work_take(struct work *work)
{
    struct later_error err;
    int count;

    if ((later_clock() >= work->plan_at && work_find_queues(work, &err) < 0) ||
        (later_clock() >= work->look_at && work_promote(work, &err) < 0)) {
        work_note_failure(work, &err);
        return;
    }
    do
        count = take_round(work, &err);
    while (count > 0 && work_wanted(work) > 0);
    if (count < 0) {
        work_note_failure(work, &err);
        return;
    }
    work->more = work_wanted(work) == 0;
    work->retry_at = 0;
}
