/* config_lists.c: queues, pools, types, limits, groups. */
#include "config/config_lists.h"

#include "config/config_cron.h"
#include "config/config_text.h"

#include <stdlib.h>
#include <string.h>

#define POOLS_MAX  16
#define TYPES_MAX  1000
#define LIMITS_MAX 1000
#define GROUPS_MAX 1000

/* The element must have this member. */
static int need(struct config_reader *in, const config_setting_t *element, const char *path)
{
    if (config_setting_get_member(element, strrchr(path, '.') + 1))
        return 0;
    return config_fault(in, element, path, "missing; each entry needs one");
}

/* names: of those before it in the list, and of this one then. */
static int config_lists_check_queue(struct config_reader *in, const config_setting_t *element,
                                    int i, struct config_queue *queues, struct later_names *names)
{
    if (need(in, element, "queues.name") < 0)
        return -1;
    if (later_names_find(names, queues[i].name))
        return config_fault(in, element, "queues.name",
                            "this queue is already in the list; once is enough");
    if (!later_names_add(names, queues[i].name, &queues[i]))
        return config_no_memory(in->err);
    if ((queues[i].weight == 0) != (queues[0].weight == 0))
        return config_fault(
            in, element, "queues.weight",
            "some queues have a weight and some have none; give it to all or to none");
    if (queues[i].shards && config_is_pattern(queues[i].name))
        return config_fault(in, element, "queues.shards",
                            "a pattern cannot have shards; name the queue that has them as well");
    if (queues[i].shards > 1 && strlen(queues[i].name) > LATER_SHARDED_MAX)
        return config_fault(in, element, "queues.shards",
                            "its name is too long; one with shards has at most 61 characters");
    return 0;
}

/* With its shards each queue has to fit. */
static int check_room(struct config_reader *in, const config_setting_t *list,
                      const struct config_queue *queues, int count)
{
    uint32_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += 1 + (queues[i].shards > 1 ? queues[i].shards : 0);
    if (sum <= CONFIG_QUEUES_MAX)
        return 0;
    return config_fault(in, list, "queues",
                        "%u with all shards; at most %d queues and shards in a pool", (unsigned)sum,
                        CONFIG_QUEUES_MAX);
}

static int read_each_queue(struct config_reader *in, config_setting_t *list,
                           struct config_queue *queues, int count)
{
    struct later_names names = { 0 };
    int result = 0;

    for (int i = 0; i < count && result == 0; i++) {
        config_setting_t *element = config_setting_get_elem(list, (unsigned)i);

        queues[i].entry = (uint32_t)i;
        result = config_read_element(in, element, "queues", CONFIG_IN_QUEUE, &queues[i]);
        if (result == 0)
            result = config_lists_check_queue(in, element, i, queues, &names);
    }
    later_names_free(&names, NULL);
    return result < 0 ? result : check_room(in, list, queues, count);
}

/* queues, and a pool's queues: a new list in place of *queues. */
static int read_queues(struct config_reader *in, config_setting_t *list,
                       struct config_queue **queues, uint32_t *count)
{
    struct config_queue *read;
    int length = config_read_list(in, list, "queues", 1, CONFIG_QUEUES_MAX, false);

    if (length < 0)
        return -1;
    read = calloc((size_t)length, sizeof *read);
    if (!read)
        return config_no_memory(in->err);
    if (read_each_queue(in, list, read, length) < 0) {
        free(read);
        return -1;
    }
    free(*queues);
    *queues = read;
    *count = (uint32_t)length;
    return 0;
}

static int read_pool_queues(struct config_reader *in, config_setting_t *list,
                            const struct config_row *row, void *base)
{
    struct config_pool *pool = base;

    (void)row;
    return read_queues(in, list, &pool->queues, &pool->queue_count);
}

static int read_top_queues(struct config_reader *in, config_setting_t *list,
                           const struct config_row *row, void *base)
{
    struct config_draft *draft = base;

    (void)row;
    return read_queues(in, list, &draft->queues, &draft->queue_count);
}

void config_lists_free_pools(struct config_pool *pools, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        config_free_queues(&pools[i]);
    free(pools);
}

/* A queue has as many shards in one pool as in the others; a queue that a pattern matches is in one
 * pool only. names: of the queues of the others before it, and of its own then. */
static int check_others(struct config_reader *in, const config_setting_t *element,
                        const struct config_pool *pool, struct later_names *names)
{
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        struct config_queue *queue = &pool->queues[i];
        const struct config_queue *other = later_names_find(names, queue->name);

        if (!other && !later_names_add(names, queue->name, queue))
            return config_no_memory(in->err);
        if (other && config_is_pattern(queue->name))
            return config_fault(in, element, "queues.name",
                                "another pool has this pattern; only one pool may have it");
        if (other && other->shards != queue->shards)
            return config_fault(
                in, element, "queues.shards",
                "another pool has this queue with another number; give both the same");
    }
    return 0;
}

static int read_pool(struct config_reader *in, config_setting_t *element, int i,
                     struct config_pool *pools, struct later_names *names)
{
    if (config_read_element(in, element, "pools", CONFIG_IN_POOL, &pools[i]) < 0 ||
        need(in, element, "pools.name") < 0 || need(in, element, "pools.queues") < 0)
        return -1;
    for (int k = 0; k < i; k++) {
        if (strcmp(pools[k].name, pools[i].name) == 0)
            return config_fault(in, element, "pools.name",
                                "another pool has this name; each needs its own");
    }
    return check_others(in, element, &pools[i], names);
}

static int read_pools(struct config_reader *in, config_setting_t *list,
                      const struct config_row *row, void *base)
{
    struct config *config = base;
    struct later_names names = { 0 };
    struct config_pool *pools;
    int length = config_read_list(in, list, row->path, 1, POOLS_MAX, false), result = 0;

    if (length < 0)
        return -1;
    pools = calloc((size_t)length, sizeof *pools);
    if (!pools)
        return config_no_memory(in->err);
    for (int i = 0; i < length && result == 0; i++)
        result = read_pool(in, config_setting_get_elem(list, (unsigned)i), i, pools, &names);
    later_names_free(&names, NULL);
    if (result < 0) {
        config_lists_free_pools(pools, (uint32_t)length);
        return -1;
    }
    config_lists_free_pools(config->pools, config->pool_count);
    config->pools = pools;
    config->pool_count = (uint32_t)length;
    return 0;
}

/* Puts a row of `types` where it belongs: over one of the same name from an earlier file, or at
 * the end. There is room. */
static int config_lists_add_type(struct config_reader *in, const config_setting_t *element,
                                 const struct config_type *type)
{
    struct config_draft *draft = in->draft;
    struct config *config = &draft->config;
    uint32_t i = 0;

    while (i < config->type_count && strcmp(config->types[i].name, type->name) != 0)
        i++;
    if (i < config->type_count && draft->origin[i].round == draft->round)
        return config_fault(in, element, "types.name",
                            "the file has another entry for this type; merge the two");
    if (i == TYPES_MAX)
        return config_fault(in, element, "types", "too many entries; at most 1000 in all files");
    config->types[i] = *type;
    draft->origin[i].location = config_read_location(in, element);
    draft->origin[i].round = draft->round;
    config->type_count += i == config->type_count;
    return 0;
}

static int config_lists_read_type(struct config_reader *in, config_setting_t *element)
{
    struct config_type type = { .timeout = 0 };

    if (config_read_element(in, element, "types", CONFIG_IN_TYPE, &type) < 0 ||
        need(in, element, "types.name") < 0)
        return -1;
    if (type.backoff.list_count > 0 &&
        (type.backoff.base >= 0 || type.backoff.max >= 0 || type.backoff.jitter >= 0))
        return config_fault(in, element, "types.backoff",
                            "given beside base, max or jitter; a list needs none of them");
    return config_lists_add_type(in, element, &type);
}

/* Adds to the rows of earlier files. */
static int read_types(struct config_reader *in, config_setting_t *list,
                      const struct config_row *row, void *base)
{
    struct config_draft *draft = base;
    struct config_type *types;
    struct config_origin *origin;
    int length = config_read_list(in, list, row->path, 0, TYPES_MAX, false);
    size_t room;

    if (length < 0)
        return -1;
    room = draft->config.type_count + (size_t)length + 1;
    types = realloc(draft->config.types, room * sizeof *types);
    if (types)
        draft->config.types = types;
    origin = realloc(draft->origin, room * sizeof *origin);
    if (origin)
        draft->origin = origin;
    if (!types || !origin)
        return config_no_memory(in->err);
    for (int i = 0; i < length; i++) {
        if (config_lists_read_type(in, config_setting_get_elem(list, (unsigned)i)) < 0)
            return -1;
    }
    return 0;
}

static int read_backoff(struct config_reader *in, config_setting_t *list,
                        const struct config_row *row, void *base)
{
    struct config_type *type = base;
    int length = config_read_list(in, list, row->path, 1, LATER_BACKOFF_LIST_MAX, true);

    if (length < 0)
        return -1;
    for (int i = 0; i < length; i++) {
        if (config_read_number(in, config_setting_get_elem(list, (unsigned)i), row,
                               &type->backoff.list[i]) < 0)
            return -1;
    }
    type->backoff.list_count = (uint32_t)length;
    return 0;
}

/* limits, groups: reads a list of at most max rows of this size, which the caller frees; NULL with
 * *in->err. read() has the rows before the i-th too. */
static void *read_rows(struct config_reader *in, config_setting_t *list, const char *path, int max,
                       size_t size,
                       int (*read)(struct config_reader *, config_setting_t *, void *, int))
{
    int length = config_read_list(in, list, path, 0, max, false);
    void *rows = length < 0 ? NULL : calloc((size_t)length + 1, size);

    if (length >= 0 && !rows)
        config_no_memory(in->err);
    for (int i = 0; i < length && rows; i++) {
        if (read(in, config_setting_get_elem(list, (unsigned)i), rows, i) < 0) {
            free(rows);
            return NULL;
        }
    }
    return rows;
}

static int read_limit(struct config_reader *in, config_setting_t *element, void *rows, int i)
{
    struct config_limit *limit = (struct config_limit *)rows + i;

    if (config_read_element(in, element, "limits", CONFIG_IN_LIMIT, limit) < 0)
        return -1;
    if (!limit->type[0] == !limit->queue[0])
        return config_fault(in, element, "limits",
                            "an entry is for a type or for a queue; give exactly one of them");
    if (limit->by_group && limit->member[0])
        return config_fault(in, element, "limits.by",
                            "given beside a member; a limit counts by one of them");
    return need(in, element, "limits.max") < 0 ? -1 : need(in, element, "limits.per");
}

static int read_limits(struct config_reader *in, config_setting_t *list,
                       const struct config_row *row, void *base)
{
    struct config *config = base;
    void *limits = read_rows(in, list, row->path, LIMITS_MAX, sizeof *config->limits, read_limit);

    if (!limits)
        return -1;
    free(config->limits);
    config->limits = limits;
    config->limit_count = (uint32_t)config_setting_length(list);
    return 0;
}

static int read_group(struct config_reader *in, config_setting_t *element, void *rows, int i)
{
    struct config_group *groups = rows, *group = &groups[i];

    if (config_read_element(in, element, "groups", CONFIG_IN_GROUP, group) < 0 ||
        need(in, element, "groups.queue") < 0)
        return -1;
    if (!group->group[0] && group->weight > 0)
        return config_fault(in, element, "groups.weight", "a weight is of one group; name it");
    for (int k = 0; k < i; k++) {
        if (strcmp(groups[k].queue, group->queue) == 0 &&
            strcmp(groups[k].group, group->group) == 0)
            return config_fault(in, element, "groups",
                                "another entry is for the same; merge the two");
    }
    return 0;
}

static int read_groups(struct config_reader *in, config_setting_t *list,
                       const struct config_row *row, void *base)
{
    struct config *config = base;
    void *groups = read_rows(in, list, row->path, GROUPS_MAX, sizeof *config->groups, read_group);

    if (!groups)
        return -1;
    free(config->groups);
    config->groups = groups;
    config->group_count = (uint32_t)config_setting_length(list);
    return 0;
}

int config_lists_read(struct config_reader *in, config_setting_t *setting,
                      const struct config_row *row, void *base)
{
    static const struct {
        const char *path;
        int (*read)(struct config_reader *, config_setting_t *, const struct config_row *, void *);
    } readers[] = {
        { "queues", read_top_queues },
        { "pools", read_pools },
        { "pools.queues", read_pool_queues },
        { "types", read_types },
        { "types.backoff", read_backoff },
        { "limits", read_limits },
        { "groups", read_groups },
        { "cron", config_cron_read },
        { "plugins.load", config_plugins_read_load },
        { "plugins.config", config_plugins_read_config },
    };

    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (strcmp(readers[i].path, row->path) == 0)
            return readers[i].read(in, setting, row, base);
    }
    return later_fail(in->err, LATER_E_BUG, "%s: in the table, but nothing reads it", row->path);
}
