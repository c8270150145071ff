/* intake_queues.c: which queues a worker serves: those of its pool, which may become more. */
#include "worker/intake.h"

#include <stdlib.h>
#include <string.h>

/* Puts it at the end of its group; later queues move up by one. */
static void put_in_order(struct worker *worker, struct worker_queue *queue)
{
    struct worker_group *group = &worker->groups[queue->group];
    uint32_t rank = group->first + group->count++;

    memmove(&worker->order[rank + 1], &worker->order[rank],
            (worker->queue_count - rank) * sizeof *worker->order);
    worker->order[rank] = queue->index;
    for (uint32_t g = queue->group + 1; g < worker->group_count; g++)
        worker->groups[g].first++;
    worker->queue_count++;
    if (rank + 1 < worker->queue_count)
        memset(worker->live, 0, sizeof worker->live);
    for (uint32_t p = rank + 1 < worker->queue_count ? 0 : rank; p < worker->queue_count; p++) {
        struct worker_queue *moved = &worker->queues[worker->order[p]];

        moved->rank = p;
        intake_live(worker, moved, moved->live);
    }
}

/* Adds a queue after the others. false: no memory. */
static bool serve(struct worker *worker, const struct config_queue *config)
{
    struct slots_page *page = worker->slots->page;
    uint32_t index = worker->queue_count;
    struct worker_queue *queue = &worker->queues[index];
    const struct worker_queue *whole;

    if (index == worker->queue_room)
        return false;
    *queue = (struct worker_queue){ .index = index, .group = config->entry, .config = config };
    later_keys_init(&queue->keys, worker->config->redis.prefix, config->name);
    later_shard_whole(queue->whole, config->name);
    queue->live = !worker->many;
    if (!later_names_add(&worker->names, queue->keys.queue, queue))
        return false;
    whole = later_names_find(&worker->names, queue->whole);
    queue->counted = whole ? whole->index : index;
    memcpy(page->queues[index], queue->keys.queue, sizeof page->queues[index]);
    page->queue_count = index + 1;
    worker->groups[queue->group].weight = config->weight;
    worker->weighted = worker->weighted || config->weight > 0;
    put_in_order(worker, queue);
    return true;
}

int intake_serve(struct worker *worker)
{
    const struct config_pool *pool = worker->start->pool;

    worker->many = config_pool_is_large(pool);
    worker->average = 0.001;
    worker->queue_room = pool->followed ? CONFIG_QUEUES_MAX : pool->queue_count;
    worker->group_count = pool->entries;
    worker->queues = calloc(worker->queue_room, sizeof *worker->queues);
    worker->order = calloc(worker->queue_room, sizeof *worker->order);
    worker->groups = calloc(worker->group_count, sizeof *worker->groups);
    if (!worker->queues || !worker->order || !worker->groups)
        return -1;
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        if (!serve(worker, &pool->queues[i]))
            return -1;
    }
    return 0;
}

void intake_follow(struct worker *worker)
{
    const struct config_pool *pool = worker->start->pool;
    uint32_t count = pool->followed
                         ? atomic_load_explicit(&pool->followed->count, memory_order_acquire)
                         : worker->queue_count;

    while (worker->queue_count < count && serve(worker, &pool->queues[worker->queue_count]))
        ;
}
