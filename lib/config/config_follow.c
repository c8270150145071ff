/* config_follow.c: a name that ends in * stands for all queues whose names begin that way. */
#include "config/config_lists.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool config_follows(const struct config *config)
{
    for (uint32_t p = 0; p < config->pool_count; p++) {
        if (config->pools[p].followed)
            return true;
    }
    return false;
}

static uint32_t count_patterns(const struct config_pool *pool)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->queue_count; i++)
        count += config_is_pattern(pool->queues[i].name);
    return count;
}

int config_split_patterns(struct config_pool *pool)
{
    uint32_t patterns = count_patterns(pool), count = 0;
    struct config_followed *followed;

    if (patterns == 0)
        return 0;
    pool->patterns = calloc(patterns, sizeof *pool->patterns);
    if (!pool->patterns)
        return -1;
    followed =
        mmap(NULL, sizeof *followed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (followed == MAP_FAILED)
        return -1;
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        if (config_is_pattern(pool->queues[i].name))
            pool->patterns[pool->pattern_count++] = pool->queues[i];
        else
            followed->queues[count++] = pool->queues[i];
    }
    free(pool->queues);
    pool->queues = followed->queues;
    pool->queue_count = count;
    pool->followed = followed;
    atomic_store(&followed->count, count);
    return 0;
}

void config_free_queues(struct config_pool *pool)
{
    free(pool->patterns);
    if (pool->followed)
        munmap(pool->followed, sizeof *pool->followed);
    else
        free(pool->queues);
}

void config_seal(const struct config *config)
{
    for (uint32_t p = 0; p < config->pool_count; p++) {
        if (config->pools[p].followed)
            (void)mprotect(config->pools[p].followed, sizeof *config->pools[p].followed, PROT_READ);
    }
}

uint32_t config_followed_by(const struct config_pool *pool, const struct config_queue *pattern)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->queue_count; i++)
        count += pool->queues[i].entry == pattern->entry && !strchr(pool->queues[i].name, '/');
    return count;
}

/* The longest pattern that matches it. No two pools have the same. */
static const struct config_queue *find_pattern(const struct config *config, const char *name,
                                               uint32_t *pool)
{
    const struct config_queue *best = NULL;

    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t i = 0; i < config->pools[p].pattern_count; i++) {
            const struct config_queue *pattern = &config->pools[p].patterns[i];

            if (!config_type_matches(pattern->name, name) ||
                (best && strlen(best->name) >= strlen(pattern->name)))
                continue;
            best = pattern;
            *pool = p;
        }
    }
    return best;
}

enum config_follow config_follow(struct config *config, const char *name, bool used,
                                 uint32_t *number)
{
    const struct config_queue *pattern = find_pattern(config, name, number);
    struct config_queue *queue;
    struct config_pool *pool;

    if (!pattern || !later_key_queue_valid(name) || config_serves(config, name))
        return CONFIG_FOLLOW_NONE;
    pool = &config->pools[*number];
    if (pool->queue_count == CONFIG_QUEUES_MAX)
        return CONFIG_FOLLOW_FULL;
    if (!used && pool->queue_count >= CONFIG_QUEUES_MAX / 2)
        return CONFIG_FOLLOW_LATER;
    queue = &pool->queues[pool->queue_count];
    *queue = *pattern;
    queue->is_followed = true;
    strcpy(queue->name, name);
    if (!later_names_add(&config->served, queue->name, queue))
        return CONFIG_FOLLOW_NONE; /* no memory: it is found again at a reload */
    pool->queue_count++;
    /* Workers see it as soon as it is whole. */
    atomic_store_explicit(&pool->followed->count, pool->queue_count, memory_order_release);
    return CONFIG_FOLLOW_ADDED;
}
