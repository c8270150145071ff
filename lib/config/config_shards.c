/* config_shards.c: which queues are served, and as how many. */
#include "config/config_text.h"

#include "queue/shards.h"

#include <stdlib.h>
#include <string.h>

const struct config_queue *config_serves(const struct config *config, const char *queue)
{
    return later_names_find(&config->served, queue);
}

bool config_pool_is_large(const struct config_pool *pool)
{
    return pool->followed || pool->queue_count > CONFIG_WAITED;
}

static int config_shards_serve(struct config *config, struct later_error *err)
{
    later_names_free(&config->served, NULL);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            struct config_queue *queue = &config->pools[p].queues[q];

            if (!config_serves(config, queue->name) &&
                !later_names_add(&config->served, queue->name, queue))
                return config_no_memory(err);
        }
    }
    return 0;
}

/* May a queue have this many shards, if its pool then has `total` queues and shards? */
static int config_shards_judge(const struct config_pool *pool, const struct config_queue *queue,
                               uint32_t shards, uint32_t total, struct later_error *err)
{
    if (strlen(queue->name) > LATER_SHARDED_MAX)
        return later_fail(err, LATER_E_CONFIG,
                          "queue %s: its name is too long; one with shards has at most %d "
                          "characters",
                          queue->name, LATER_SHARDED_MAX);
    if (total > CONFIG_QUEUES_MAX)
        return later_fail(
            err, LATER_E_CONFIG,
            "queue %s: no room for %u shards in pool %s; at most %d queues and shards", queue->name,
            (unsigned)shards, pool->name, CONFIG_QUEUES_MAX);
    return 0;
}

/* The queues of a pool, each followed by its shards, which have its options. */
static void lay_out(const struct config_pool *pool, struct config_queue *list)
{
    later_queue_name names[LATER_WHOLE_MAX];

    for (uint32_t q = 0; q < pool->queue_count; q++) {
        const struct config_queue *queue = &pool->queues[q];

        if (strchr(queue->name, '/'))
            continue;
        *list++ = *queue;
        (void)later_shards_all(queue->name, queue->served, names);
        for (uint32_t i = 1; i <= queue->served; i++, list++) {
            *list = *queue;
            list->served = 0;
            strcpy(list->name, names[i]);
        }
    }
}

/* Those of a pool with patterns stay where they are: workers share them. */
static void replace(struct config_pool *pool, struct config_queue *list, uint32_t count)
{
    pool->queue_count = count;
    if (pool->followed) {
        memcpy(pool->queues, list, count * sizeof *list);
        atomic_store(&pool->followed->count, count);
        free(list);
    } else {
        free(pool->queues);
        pool->queues = list;
    }
}

static int widen(struct config_pool *pool, config_wanted_fn *wanted, void *arg,
                 struct later_error *err)
{
    uint32_t total = pool->queue_count;
    struct config_queue *list;

    for (uint32_t q = 0; q < pool->queue_count; q++) {
        struct config_queue *queue = &pool->queues[q];
        uint32_t shards = strchr(queue->name, '/') ? 0 : wanted(arg, queue);

        if (shards < 2 || shards <= queue->served)
            continue;
        total += shards - queue->served;
        if (config_shards_judge(pool, queue, shards, total, err) < 0)
            return -1;
        queue->served = shards;
    }
    if (total == pool->queue_count)
        return 0;
    list = malloc(total * sizeof *list);
    if (!list)
        return config_no_memory(err);
    lay_out(pool, list);
    replace(pool, list, total);
    return 0;
}

int config_widen(struct config *config, config_wanted_fn *wanted, void *arg,
                 struct later_error *err)
{
    for (uint32_t p = 0; p < config->pool_count; p++) {
        if (widen(&config->pools[p], wanted, arg, err) < 0)
            return -1;
    }
    return config_shards_serve(config, err);
}
