/* shards.c: queues that are spread over several. */
#include "queue/shards.h"

#include "base/spell.h"
#include "redis/slot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_former(struct later_plan *plan, uint32_t count)
{
    if (count == plan->count || plan->formers == LATER_COUNTS_MAX - 1)
        return;
    for (uint32_t i = 0; i < plan->formers; i++) {
        if (plan->former[i] == count)
            return;
    }
    plan->former[plan->formers++] = count;
}

struct later_plan later_plan_parse(const char *text)
{
    struct later_plan plan = { .count = 0 };
    char *end;

    plan.epoch = strtoull(text, &end, 10);
    while (*end == ' ') {
        unsigned long count = strtoul(end + 1, &end, 10);

        if (count < 1 || count > LATER_SHARDS_MAX)
            continue;
        if (!plan.count)
            plan.count = (uint32_t)count;
        else
            add_former(&plan, (uint32_t)count);
    }
    if (!plan.count)
        plan.count = 1;
    return plan;
}

static uint32_t shards_count_of(const struct later_plan *plan)
{
    return plan->count ? plan->count : 1;
}

static void shards_spell(const struct later_plan *plan, char text[LATER_PLAN_SIZE])
{
    int len = snprintf(text, LATER_PLAN_SIZE, "%" PRIu32, shards_count_of(plan));

    for (uint32_t i = 0; i < plan->formers; i++)
        len += snprintf(text + len, LATER_PLAN_SIZE - (size_t)len, " %" PRIu32, plan->former[i]);
}

bool later_plan_change(const struct later_plan *plan, uint32_t count, char text[LATER_PLAN_SIZE])
{
    struct later_plan next = { .count = count };

    add_former(&next, shards_count_of(plan));
    for (uint32_t i = 0; i < plan->formers; i++) {
        if (plan->former[i] != count && next.formers == LATER_COUNTS_MAX - 1)
            return false;
        add_former(&next, plan->former[i]);
    }
    shards_spell(&next, text);
    return true;
}

void later_plan_drop(const struct later_plan *plan, char text[LATER_PLAN_SIZE])
{
    struct later_plan next = *plan;

    next.formers -= next.formers > 0;
    shards_spell(&next, text);
}

uint32_t later_plan_span(const struct later_plan *plan)
{
    uint32_t span = shards_count_of(plan);

    for (uint32_t i = 0; i < plan->formers; i++)
        span = plan->former[i] > span ? plan->former[i] : span;
    return span;
}

static void name_shard(later_queue_name out, const char *queue, unsigned shard)
{
    snprintf(out, sizeof(later_queue_name), "%.*s/%u", LATER_SHARDED_MAX, queue, shard % 100);
}

void later_shard_of(later_queue_name out, const char *queue, uint32_t count, const char *id)
{
    if (count > 1)
        name_shard(out, queue, later_slot_crc16(id, strlen(id)) % count);
    else
        later_spell_text(out, sizeof(later_queue_name), queue);
}

/* Keeps the part that is at out[count], unless it is there already. */
static size_t shards_once(later_queue_name *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(out[i], out[count]) == 0)
            return count;
    }
    return count + 1;
}

size_t later_plan_route(const struct later_plan *plan, const char *queue, const char *id,
                        later_queue_name out[LATER_COUNTS_MAX])
{
    later_queue_name last;
    size_t count = 0;

    later_shard_of(last, queue, plan->count, id);
    for (uint32_t i = 0; i < plan->formers; i++) {
        later_shard_of(out[count], queue, plan->former[i], id);
        if (strcmp(out[count], last) != 0)
            count = shards_once(out, count);
    }
    strcpy(out[count], last);
    return count + 1;
}

size_t later_shards_all(const char *queue, uint32_t span, later_queue_name out[LATER_WHOLE_MAX])
{
    size_t count = 1;

    snprintf(out[0], sizeof out[0], "%s", queue);
    for (uint32_t i = 0; span > 1 && i < span; i++)
        name_shard(out[count++], queue, i);
    return count;
}

void later_shard_whole(later_queue_name out, const char *name)
{
    snprintf(out, sizeof(later_queue_name), "%.*s", (int)strcspn(name, "/"), name);
}

bool later_shards_stale(const char *error, const char **plan)
{
    static const char word[] = "RESHARD ";

    if (strncmp(error, word, sizeof word - 1) != 0)
        return false;
    *plan = error + sizeof word - 1;
    return true;
}
