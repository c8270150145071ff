/* work_queues.c: the queues that `later work` takes from, with their shards. */
#include "clock.h"
#include "whole.h"
#include "work.h"

#include <string.h>

#define PLAN_AGE     5.0 /* seconds until the plans of shards are read anew */
#define WAKE_TIMEOUT 4.0 /* seconds until the answer of a BLPOP is missed */

size_t work_queues_of(struct work *work, size_t word, struct work_queue *queues[WORK_QUEUES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < work->queue_count; i++) {
        if (work->queues[i].word == word)
            queues[count++] = &work->queues[i];
    }
    return count;
}

bool work_is_woken(const struct work *work)
{
    for (size_t i = 0; i < work->queue_count; i++) {
        if (work->queues[i].woken)
            return true;
    }
    return false;
}

/* --- finding them --- */

static bool is_known(const struct work *work, size_t word, const struct later_keys *keys)
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
    if (is_known(work, word, keys))
        return 0;
    if (work->queue_count == WORK_QUEUES_MAX)
        return later_fail(err, LATER_E_USAGE, "more than %d queues, with their shards",
                          WORK_QUEUES_MAX);
    work->queues[work->queue_count++] = (struct work_queue){ .keys = *keys, .word = word };
    return 0;
}

static int add_whole(struct work *work, size_t word, struct later_error *err)
{
    struct whole whole;

    if (whole_find(work->cli, work->cli->args.words[word], &whole, err) < 0)
        return -1;
    for (size_t i = 0; i < whole.count; i++) {
        if (add_queue(work, word, &whole.parts[i], err) < 0)
            return -1;
    }
    return 0;
}

/* --- who waits for their wakes --- */

static int open_waker(struct work *work, size_t first, size_t count, struct later_error *err)
{
    const struct where *where = &work->cli->where;
    struct work_waker *waker = &work->wakers[work->waker_count];
    struct later_client_options options = {
        .url = where->url,
        .password_file = where->password_file[0] ? where->password_file : NULL,
        .prefix = where->prefix,
        .name = "later-wake",
        .timeout = WAKE_TIMEOUT,
    };

    *waker = (struct work_waker){ .work = work, .first = first, .count = count };
    waker->client = later_client_open_with(&options, err);
    if (!waker->client)
        return -1;
    work->waker_count++;
    return 0;
}

/* One for all; on a Cluster one for each queue. */
static int open_wakers(struct work *work, struct later_error *err)
{
    if (!later_redis_is_cluster(later_call_redis(work->cli->client))) {
        if (work->waker_count == 0)
            return open_waker(work, 0, work->queue_count, err);
        work->wakers[0].count = work->queue_count; /* from its next BLPOP on */
        return 0;
    }
    while (work->waker_count < work->queue_count) {
        if (open_waker(work, work->waker_count, 1, err) < 0)
            return -1;
    }
    return 0;
}

/* --- both --- */

int work_find_queues(struct work *work, struct later_error *err)
{
    work->plan_at = later_clock() + PLAN_AGE;
    for (int i = 0; i < work->cli->args.count; i++) {
        if (add_whole(work, (size_t)i, err) < 0)
            return -1;
    }
    return open_wakers(work, err);
}

int work_refresh_queues(struct work *work, struct later_error *err)
{
    return later_clock() < work->plan_at ? 0 : work_find_queues(work, err);
}
