/* supervisor_follow.c: takes on new queues that match a pattern. */
#include "supervisor/supervisor_inner.h"

#include "log.h"
#include "queues/registry.h"

/* Returns whether the queue was added. */
static bool follow(struct supervisor *supervisor, struct config *config, const char *name,
                   uint32_t *pool)
{
    enum config_follow followed = config_follow(config, name, pool);

    if (followed == CONFIG_FOLLOW_FULL)
        fault_note(&supervisor->crowded, LOG_WARN,
                   "queue %s is not served: pool %s has %d queues and shards already; forget those "
                   "that are no more, and reload",
                   name, config->pools[*pool].name, CONFIG_QUEUES_MAX);
    return followed == CONFIG_FOLLOW_ADDED;
}

void supervisor_on_found(void *arg, const char *name)
{
    struct supervisor *supervisor = arg;
    struct config *config = supervisor->generation->config;
    const struct config_pool *pool;
    uint32_t number = 0, ignored;

    if (supervisor->stopping)
        return;
    if (supervisor->next)
        (void)config_follow(supervisor->next, name, &ignored);
    if (supervisor->trying)
        (void)config_follow(supervisor->trying->config, name, &ignored);
    if (!follow(supervisor, config, name, &number))
        return;
    pool = &config->pools[number];
    log_line(LOG_DEBUG, "queue %s is there, and served in pool %s", name, pool->name);
    registry_limit(config, &pool->queues[pool->queue_count - 1], supervisor->link);
    link_flush(supervisor->link);
    reshard_follow(supervisor->reshard, &pool->queues[pool->queue_count - 1]);
    if (supervisor->upkeep && upkeep_follow(supervisor->upkeep, number, name) < 0)
        log_line(LOG_ERROR, "queue %s: no memory; it is served after a reload", name);
}

static void on_each(void *arg, const char *name)
{
    struct supervisor *supervisor = arg;
    uint32_t pool;

    (void)follow(supervisor, supervisor->next, name, &pool);
}

void supervisor_follow_next(struct supervisor *supervisor)
{
    fault_over(&supervisor->crowded);
    patterns_each(supervisor->patterns, on_each, supervisor);
}
