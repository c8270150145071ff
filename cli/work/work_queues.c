/* work_queues.c: the queues and shards that `later work` takes from. */
#include "base/clock.h"
#include "whole.h"
#include "work/work.h"

#include <string.h>

#define PLAN_AGE 5.0 /* seconds after which the plans of shards are read again */

size_t work_queues_of(const struct work *work, size_t word, size_t queues[WORK_QUEUES_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < work->queue_count; i++) {
        if (work->queues[i].word == word)
            queues[count++] = i;
    }
    return count;
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
    work->queues[work->queue_count] = (struct work_queue){ .keys = *keys, .word = word };
    if (wake_listener_add(&work->listener, &work->queues[work->queue_count].keys, err) < 0)
        return -1;
    work->queue_count++;
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

int work_find_queues(struct work *work, struct later_error *err)
{
    work->plan_at = later_clock() + PLAN_AGE;
    for (int i = 0; i < work->cli->args.count; i++) {
        if (add_whole(work, (size_t)i, err) < 0)
            return -1;
    }
    return 0;
}

int work_refresh_queues(struct work *work, struct later_error *err)
{
    return later_clock() < work->plan_at ? 0 : work_find_queues(work, err);
}
