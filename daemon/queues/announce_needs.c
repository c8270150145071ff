/* announce_needs.c: which locks, permits and limits jobs need here. */
#include "queues/announce_needs.h"

#include <string.h>

struct announce_needs {
    FILE *out;
    unsigned count;
};

/* A group is printable ASCII. */
static void announce_needs_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    fputc('"', out);
}

/* Names, types and members are plain ASCII with nothing to escape. */
static void announce_needs_begin(struct announce_needs *needs, const char *kind, const char *name,
                                 const char *type, const char *queue)
{
    fprintf(needs->out, "%s{\"kind\":\"%s\",\"name\":\"%s\",\"%s\":\"%s\"",
            needs->count++ ? "," : ",\"needs\":[", kind, name, *type ? "type" : "queue",
            *type ? type : queue);
}

static void announce_needs_permit(struct announce_needs *needs, const char *name, const char *type,
                                  const char *queue, uint32_t max)
{
    announce_needs_begin(needs, "permit", name, type, queue);
    fprintf(needs->out, ",\"max\":%u}", (unsigned)max);
}

static void announce_needs_of_type(struct announce_needs *needs, const struct config_type *type)
{
    char name[sizeof type->name + 8];

    if (type->exclusive && needs->count < ANNOUNCE_NEEDS) {
        announce_needs_begin(needs, "lock", "type:", type->name, "");
        fputc('}', needs->out);
    }
    snprintf(name, sizeof name, "type:%s", type->name);
    if (type->max_running && needs->count < ANNOUNCE_NEEDS)
        announce_needs_permit(needs, name, type->name, "", type->max_running);
}

/* The queues of a pattern are told with it, shards with their queue. */
static void announce_needs_of_queue(struct announce_needs *needs, const struct config_queue *queue)
{
    if (queue->max_running && !queue->is_followed && !strchr(queue->name, '/') &&
        needs->count < ANNOUNCE_NEEDS)
        announce_needs_permit(needs, "queue:", "", queue->name, queue->max_running);
}

/* Those of one group come before that of all others: the first counts. */
static void announce_needs_groups(struct announce_needs *needs, const struct config *config,
                                  bool named)
{
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct config_group *entry = &config->groups[i];
        char name[sizeof "group::" + LATER_QUEUE_MAX];

        if (!entry->max_running || !entry->group[0] == named || needs->count == ANNOUNCE_NEEDS)
            continue;
        snprintf(name, sizeof name, "group:%s:", entry->queue);
        announce_needs_begin(needs, "permit", name, "", entry->queue);
        fprintf(needs->out, ",\"by\":\"group\"");
        if (named) {
            fprintf(needs->out, ",\"group\":");
            announce_needs_text(needs->out, entry->group);
        }
        fprintf(needs->out, ",\"max\":%u}", (unsigned)entry->max_running);
    }
}

static void announce_needs_limit(struct announce_needs *needs, const struct config_limit *limit)
{
    char name[CONFIG_LIMIT_NAME];

    if (needs->count == ANNOUNCE_NEEDS)
        return;
    config_limit_name(limit, name);
    announce_needs_begin(needs, "limit", name, limit->type, limit->queue);
    if (limit->member[0])
        fprintf(needs->out, ",\"member\":\"%s\"", limit->member);
    if (limit->by_group)
        fprintf(needs->out, ",\"by\":\"group\"");
    fprintf(needs->out, ",\"max\":%u,\"per\":%.3f,\"window\":\"%s\"}", (unsigned)limit->max,
            limit->per, limit->sliding ? "sliding" : "fixed");
}

void announce_needs_write(const struct config *config, FILE *out)
{
    struct announce_needs needs = { .out = out };

    for (uint32_t i = 0; i < config->type_count; i++)
        announce_needs_of_type(&needs, &config->types[i]);
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++)
            announce_needs_of_queue(&needs, &config->pools[p].queues[q]);
        for (uint32_t q = 0; q < config->pools[p].pattern_count; q++)
            announce_needs_of_queue(&needs, &config->pools[p].patterns[q]);
    }
    announce_needs_groups(&needs, config, true);
    announce_needs_groups(&needs, config, false);
    for (uint32_t i = 0; i < config->limit_count; i++)
        announce_needs_limit(&needs, &config->limits[i]);
    if (needs.count)
        fputc(']', out);
}
