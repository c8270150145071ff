/* registry.c: later:protocol, later:queues, max_jobs. */
#include "queues/registry.h"

#include "queue/inspect.h"

#include <string.h>

/* Whoever is first writes it; redis.c has compared what is there. */
static void name_protocol(const struct config *config, struct link *link)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_protocol(key, config->redis.prefix);
    later_command_say(&cmd, "SET %s %d NX", key, LATER_PROTOCOL);
    link_send(link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
}

static void name_queues(const struct config *config, const struct config_pool *pool,
                        struct link *link)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_queues(key, config->redis.prefix);
    later_command_begin(&cmd, 2 + pool->queue_count);
    later_command_text(&cmd, "SADD");
    later_command_text(&cmd, key);
    for (uint32_t q = 0; q < pool->queue_count; q++)
        later_command_text(&cmd, pool->queues[q].name);
    link_send(link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
}

/* A queue's shards, and the queue itself beside them, have equal parts. */
static uint64_t part_of(const struct config *config, const struct config_queue *queue)
{
    char whole[LATER_QUEUE_MAX + 1];
    uint32_t shards;

    strcpy(whole, queue->name);
    whole[strcspn(whole, "/")] = '\0';
    (void)config_serves(config, whole, &shards);
    return shards > 1 ? (queue->max_jobs + shards - 1) / shards : queue->max_jobs;
}

static void limit_queue(const struct config *config, const struct config_queue *queue,
                        struct link *link)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, config->redis.prefix, queue->name);
    later_inspect_limit(&cmd, &keys, part_of(config, queue));
    link_send(link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
}

static void write_all(const struct config *config, struct link *link, bool unlimited)
{
    name_protocol(config, link);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];

        name_queues(config, pool, link);
        for (uint32_t q = 0; q < pool->queue_count; q++) {
            if (unlimited || pool->queues[q].max_jobs > 0)
                limit_queue(config, &pool->queues[q], link);
        }
    }
}

void registry_write(const struct config *config, struct link *link)
{
    write_all(config, link, true);
}

void registry_renew(const struct config *config, struct link *link)
{
    write_all(config, link, false);
}
