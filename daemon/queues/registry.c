/* registry.c: later:protocol, later:queues, max_jobs, flows_kept, weights, the scripts of pushers.
 */
#include "queues/registry.h"

#include "queue/flow.h"
#include "queue/inspect.h"
#include "redis/script.h"

#include <stdlib.h>
#include <string.h>

#define RENEWED 64 /* queues at each turn: thousands may have a limit */
#define SCRIPTS 12 /* turns until the scripts are loaded again: a minute */

/* The first laterd writes it; redis.c has compared what is there. */
static void name_protocol(const struct config *config, struct link *link)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_protocol(key, config->redis.prefix);
    later_command_say(&cmd, "SET %s %d NX", key, LATER_PROTOCOL);
    link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
}

/* Queues that a pattern matches are not written: they were there before, and may be forgotten. */
static void registry_name_queues(const struct config *config, const struct config_pool *pool,
                                 struct link *link)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];
    uint32_t count = 0;

    for (uint32_t q = 0; q < pool->queue_count; q++)
        count += !pool->queues[q].is_followed;
    if (count == 0)
        return;
    later_key_queues(key, config->redis.prefix);
    later_command_open(&cmd, count, "SADD %s", key);
    for (uint32_t q = 0; q < pool->queue_count; q++) {
        if (!pool->queues[q].is_followed)
            later_command_text(&cmd, pool->queues[q].name);
    }
    link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
}

void registry_name(const char *prefix, struct link *link, const char *queue)
{
    struct later_command cmd = { 0 };
    char key[LATER_KEY_MAX];

    later_key_queues(key, prefix);
    later_command_say(&cmd, "SADD %s %s", key, queue);
    link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
}

/* The limit is split evenly among a queue's shards and the plain queue. */
static uint64_t part_of(const struct config *config, const struct config_queue *queue)
{
    const struct config_queue *whole;
    later_queue_name name;
    uint32_t shards;

    later_shard_whole(name, queue->name);
    whole = config_serves(config, name);
    shards = whole && whole->served ? whole->served : 1;
    return (queue->max_jobs + shards - 1) / shards;
}

/* Loads what pushes need, so that a pusher need not have the right to load scripts: with it he
 * could load one of his own, which stops Redis for all. If it is refused, redis_check.h says so,
 * since laterd needs that right, too. */
static void load_scripts(struct link *link)
{
    static const enum later_script scripts[] = { LATER_SCRIPT_PUSH, LATER_SCRIPT_PUSH_NOW };
    size_t masters = later_redis_masters(link_redis(link));

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct later_command cmd = { 0 };

        if (masters == 0) {
            later_script_load(&cmd, scripts[i], false);
            link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
        }
        for (size_t m = 0; m < masters; m++) {
            later_script_load(&cmd, scripts[i], false);
            later_redis_send_to(link_redis(link), m, &cmd, LINK_TIMEOUT, NULL, NULL);
        }
    }
}

static void name_all(const struct config *config, struct link *link)
{
    name_protocol(config, link);
    for (uint32_t p = 0; p < config->pool_count; p++)
        registry_name_queues(config, &config->pools[p], link);
}

/* Writes how many jobs the queue may have, and how long its flows are kept. */
static void registry_say(const struct config *config, const struct config_queue *queue,
                         struct link *link, bool limit, bool keep)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    later_keys_init(&keys, config->redis.prefix, queue->name);
    if (limit) {
        later_inspect_limit(&cmd, &keys, part_of(config, queue));
        link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    if (keep) {
        later_flow_keep(&cmd, &keys, config->flows.keep);
        link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
}

void registry_queue(const struct config *config, const struct config_queue *queue,
                    struct link *link)
{
    registry_say(config, queue, link, true, true);
}

/* Is this entry the weight of a group in this queue, or in the queue whose shard it is? */
static bool weighs(const struct config_group *entry, const struct config_queue *queue)
{
    later_queue_name whole;

    later_shard_whole(whole, queue->name);
    return entry->weight > 0 && entry->group[0] && strcmp(entry->queue, whole) == 0;
}

/* anew: without those that the configuration no longer has. */
static void registry_weigh(const struct config *config, const struct config_queue *queue,
                           struct link *link, bool anew)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;
    const char **groups;
    double *weights;
    size_t count = 0;

    if (!config->group_count && !anew)
        return;
    groups = calloc(config->group_count + 1, sizeof *groups);
    weights = calloc(config->group_count + 1, sizeof *weights);
    for (uint32_t i = 0; groups && weights && i < config->group_count; i++) {
        if (!weighs(&config->groups[i], queue))
            continue;
        groups[count] = config->groups[i].group;
        weights[count++] = config->groups[i].weight;
    }
    later_keys_init(&keys, config->redis.prefix, queue->name);
    if (anew) {
        later_inspect_weightless(&cmd, &keys);
        link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    if (count) {
        later_inspect_weights(&cmd, &keys, groups, weights, count);
        link_send(link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
    free(groups);
    free(weights);
}

void registry_write(const struct config *config, struct link *link)
{
    name_all(config, link);
    load_scripts(link);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            registry_queue(config, &config->pools[p].queues[q], link);
            registry_weigh(config, &config->pools[p].queues[q], link, true);
        }
    }
}

/* Does the configuration say of the queue what is not so without it? */
static bool is_told(const struct config *config, const struct config_queue *queue)
{
    return queue->max_jobs > 0 || config->flows.keep != LATER_FLOW_KEPT;
}

static uint32_t count_told(const struct config *config, const struct config_pool *pool)
{
    uint32_t count = 0;

    for (uint32_t q = 0; q < pool->queue_count; q++)
        count += is_told(config, &pool->queues[q]);
    return count;
}

void registry_renew(const struct config *config, struct link *link, uint32_t turn)
{
    uint32_t told = 0, turns, nth = 0;

    name_all(config, link);
    if (turn % SCRIPTS == 0)
        load_scripts(link);
    for (uint32_t p = 0; p < config->pool_count; p++)
        told += count_told(config, &config->pools[p]);
    turns = told / RENEWED + 1;
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            const struct config_queue *queue = &config->pools[p].queues[q];

            registry_weigh(config, queue, link, false);
            /* what it says, and no more: another host's configuration may say the rest */
            if (is_told(config, queue) && nth++ % turns == turn % turns)
                registry_say(config, queue, link, queue->max_jobs > 0,
                             config->flows.keep != LATER_FLOW_KEPT);
        }
    }
}
