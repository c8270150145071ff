/*
 * intake_turn.c: whose turn it is: queues in strict order or by weight, the shards of one in turn.
 */
#include "worker/worker.h"

#define TURN_SECONDS 0.050 /* at one shard, before the next */
#define SHARE_JOBS   16 /* at a time of the queue with the least weight, where others have jobs */

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

/* Fair queueing by start times (Goyal, Vin, Cheng 1996), counted in jobs: each queue's clock goes
 * on by one weight's share for each job that it gave, and the one that is furthest behind comes
 * next. One that had nothing for a while does not make up for it: it begins where the others are.
 */
struct worker_queue *intake_choose(struct worker *worker)
{
    struct worker_queue *chosen = NULL, *first = NULL;

    for (uint32_t i = 0; i < worker->queue_count; i += worker->queues[i].count) {
        struct worker_queue *whole = &worker->queues[i], *ready = ready_of(worker, whole);

        if (ready && whole->clock < worker->clock)
            whole->clock = worker->clock;
        if (ready && (!first || whole->clock < first->clock)) {
            chosen = ready;
            first = whole;
        }
    }
    if (first)
        worker->clock = first->clock;
    return chosen;
}

void intake_count(struct worker *worker, const struct worker_queue *queue, size_t jobs)
{
    if (queue->weight)
        worker->queues[queue->first].clock += (double)jobs / queue->weight;
}

size_t intake_share(const struct worker *worker, const struct worker_queue *queue)
{
    uint32_t least = queue->weight, others = 0;

    for (uint32_t i = 0; i < worker->queue_count; i++) {
        const struct worker_queue *other = &worker->queues[i];

        if (other->first == queue->first || !intake_is_ready(other))
            continue;
        others++;
        least = other->weight < least ? other->weight : least;
    }
    return others && least ? (size_t)SHARE_JOBS * queue->weight / least : LATER_BATCH_MAX;
}
