/* config_shards.c: queues that are several. */
#include "config/config.h"

#include "queue/shards.h"

#include <stdlib.h>
#include <string.h>

static bool is_shard_of(const struct config_queue *queue, const char *whole)
{
    size_t len = strlen(whole);

    return strncmp(queue->name, whole, len) == 0 && queue->name[len] == '/';
}

static uint32_t find(const struct config_pool *pool, const char *name)
{
    uint32_t i = 0;

    while (i < pool->queue_count && strcmp(pool->queues[i].name, name) != 0)
        i++;
    return i;
}

static uint32_t shards_of(const struct config_pool *pool, uint32_t at)
{
    uint32_t count = 0;

    while (at + 1 + count < pool->queue_count &&
           is_shard_of(&pool->queues[at + 1 + count], pool->queues[at].name))
        count++;
    return count;
}

bool config_serves(const struct config *config, const char *queue, uint32_t *shards)
{
    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];
        uint32_t at = find(pool, queue);

        if (at == pool->queue_count)
            continue;
        *shards = shards_of(pool, at);
        return true;
    }
    *shards = 0;
    return false;
}

bool config_pool_is_large(const struct config_pool *pool)
{
    return pool->followed || pool->queue_count > CONFIG_WAITED;
}

/* The queues with room for `more` behind those of `at`; the options are those of the queue. */
static int widen(struct config_pool *pool, uint32_t at, uint32_t have, uint32_t more,
                 struct later_error *err)
{
    struct config_queue *queues = pool->queues;
    uint32_t from = at + 1 + have;

    if (pool->queue_count + more > CONFIG_QUEUES_MAX)
        return later_fail(
            err, LATER_E_CONFIG,
            "queue %s: no room for %u shards in pool %s; at most %d queues and shards",
            pool->queues[at].name, (unsigned)(have + more), pool->name, CONFIG_QUEUES_MAX);
    if (!pool->followed) /* else there is room */
        queues = realloc(pool->queues, (pool->queue_count + more) * sizeof *queues);
    if (!queues)
        return later_fail(err, LATER_E_SYSTEM, "no memory for the configuration");
    pool->queues = queues;
    memmove(&queues[from + more], &queues[from], (pool->queue_count - from) * sizeof *queues);
    for (uint32_t i = 0; i < more; i++)
        queues[from + i] = queues[at];
    pool->queue_count += more;
    if (pool->followed)
        atomic_store(&pool->followed->count, pool->queue_count);
    return 0;
}

int config_add_shards(struct config *config, const char *queue, uint32_t shards,
                      struct later_error *err)
{
    later_queue_name names[LATER_WHOLE_MAX];

    if (shards > 1 && strlen(queue) > LATER_SHARDED_MAX)
        return later_fail(err, LATER_E_CONFIG,
                          "queue %s: its name is too long; one with shards has at most %d "
                          "characters",
                          queue, LATER_SHARDED_MAX);
    (void)later_shards_all(queue, shards, names);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        struct config_pool *pool = &config->pools[p];
        uint32_t at = find(pool, queue), have;

        if (at == pool->queue_count)
            continue;
        have = shards_of(pool, at);
        if (have >= shards || shards < 2)
            continue;
        if (widen(pool, at, have, shards - have, err) < 0)
            return -1;
        for (uint32_t i = have; i < shards; i++)
            strcpy(pool->queues[at + 1 + i].name, names[1 + i]);
    }
    return 0;
}
