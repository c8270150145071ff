/* work_take.c: takes jobs for `later work`. */
#include "work/work.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

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

/* --- taking --- */

static void give_back(struct work *work, const struct later_keys *keys, const char *token,
                      const struct later_reserved *job)
{
    struct later_settlement back = { .token = token, .id = job->id };
    struct later_error ignored;

    (void)take_settle(work->cli, keys, LATER_VERB_RETURN, 0, &back, &ignored);
}

/* Starts one job that was taken, or returns it if it cannot be started. */
static void begin(struct work *work, const struct later_keys *keys, const char *token,
                  const struct later_reserved *job, double now)
{
    struct runner *runner = free_seat(work);
    struct later_document doc;
    struct later_policy policy;
    struct later_error err;
    bool runs = false;

    if (work->broken || !runner) {
        give_back(work, keys, token, job);
        return;
    }
    if (take_screen(&work->taker, keys, token, job, now, &doc, &policy, &runs, &err) < 0) {
        work_note_failure(work, &err);
        return;
    }
    if (!runs)
        return;
    if (runner_begin(runner, &work->shared, keys, token, job, &doc, &policy, &err) < 0) {
        give_back(work, keys, token, job);
        work_note_failure(work, &err);
        return;
    }
    if (work->left > 0)
        work->left--;
}

/* Takes jobs from one queue for all free runners. Returns how many came, or -1 with *err. */
static int take_from(struct work *work, size_t queue, struct later_error *err)
{
    const struct later_keys *keys = &work->queues[queue].keys;
    char token[LATER_TOKEN_LEN + 1];
    size_t limit = work_wanted(work), count;
    struct later_reply *reply;
    double now;

    limit = limit < LATER_BATCH_MAX ? limit : LATER_BATCH_MAX;
    reply = take_jobs(&work->taker, keys, limit, token, err);
    if (!reply)
        return -1;
    wake_listener_follow(&work->listener, queue);
    count = later_queue_reserved_count(reply);
    now = later_queue_reserved_now(reply);
    for (size_t i = 0; i < count; i++) {
        struct later_reserved job;

        later_queue_reserved(reply, i, &job);
        begin(work, keys, token, &job, now);
    }
    later_reply_free(reply);
    return (int)count;
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

/* Takes jobs from a queue and its shards while runners are free. Returns as take_from(). */
static int take_from_whole(struct work *work, size_t word, struct later_error *err)
{
    size_t queues[WORK_QUEUES_MAX];
    size_t all = work_queues_of(work, word, queues);
    int sum = 0;

    for (size_t i = 0; i < all && work_wanted(work) > 0; i++) {
        int count = take_from(work, queues[(work->turn + i) % all], err);

        if (count < 0)
            return -1;
        sum += count;
    }
    return sum;
}

/* Goes once over the queues, in their order. Returns as take_from(). */
static int take_round(struct work *work, struct later_error *err)
{
    int sum = 0;

    for (int i = 0; i < work->cli->args.count && work_wanted(work) > 0; i++) {
        int count = take_from_whole(work, (size_t)i, err);

        if (count < 0)
            return -1;
        sum += count;
    }
    work->turn++;
    return sum;
}

void work_take(struct work *work)
{
    struct later_error err;
    int count;

    if (work_refresh_queues(work, &err) < 0 ||
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
