/*
 * intake_turn.c: whose turn it is: queues in strict order or by weight, the shards of one in turn.
 */
#include "worker/worker.h"

#include <sys/random.h>

#define TURN_SECONDS 0.050 /* at one shard, before the next */

bool intake_is_open(const struct worker_queue *queue)
{
    return !queue->resting && !queue->silent;
}

bool intake_is_ready(const struct worker_queue *queue)
{
    return queue->live && intake_is_open(queue);
}

struct worker_queue *intake_in_turn(struct worker *worker, uint32_t n)
{
    const struct worker_queue *first = &worker->queues[worker->queues[n].first];

    return &worker->queues[first->index + (n - first->index + first->turn) % first->count];
}

void intake_turn(struct worker *worker, const struct worker_queue *queue, double now)
{
    struct worker_queue *first = &worker->queues[queue->first];
    uint32_t at = queue->index - first->index;

    if (at == first->turn && now - first->turned < TURN_SECONDS)
        return;
    first->turn = at == first->turn ? (at + 1) % first->count : at;
    first->turned = now;
}

/* The first in turn of a whole that is ready; NULL if none is. */
static struct worker_queue *ready_of(struct worker *worker, const struct worker_queue *first)
{
    for (uint32_t i = 0; i < first->count; i++) {
        struct worker_queue *queue = intake_in_turn(worker, first->index + i);

        if (intake_is_ready(queue))
            return queue;
    }
    return NULL;
}

struct worker_queue *intake_choose(struct worker *worker)
{
    struct worker_queue *ready[SLOTS_QUEUES];
    uint32_t count = 0, sum = 0, random = 0;

    for (uint32_t i = 0; i < worker->queue_count; i += worker->queues[i].count) {
        ready[count] = ready_of(worker, &worker->queues[i]);
        if (ready[count])
            sum += ready[count++]->weight;
    }
    if (!sum)
        return NULL;
    (void)!getrandom(&random, sizeof random, 0);
    random %= sum;
    for (uint32_t i = 0; i < count; i++) {
        if (random < ready[i]->weight)
            return ready[i];
        random -= ready[i]->weight;
    }
    return NULL;
}
