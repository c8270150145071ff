/* whole.c: a queue with its shards. */
#include "whole.h"

#include <string.h>

int whole_find(struct cli *cli, const char *queue, struct whole *whole, struct later_error *err)
{
    later_queue_name names[LATER_WHOLE_MAX];

    if (cli_keys(cli, queue, &whole->parts[0], err) < 0 ||
        later_call_ask_plan(cli->client, queue, &whole->plan, err) < 0)
        return -1;
    strcpy(whole->name, whole->parts[0].queue);
    whole->count = later_shards_all(queue, later_plan_span(&whole->plan), names);
    for (size_t i = 1; i < whole->count; i++) {
        if (cli_keys(cli, names[i], &whole->parts[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Adds a part unless it is there. */
static size_t whole_add_part(const struct later_keys **parts, size_t count,
                             const struct later_keys *part)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i] == part)
            return count;
    }
    parts[count] = part;
    return count + 1;
}

/* Adds the part of this name. */
static size_t add_named(const struct whole *whole, const struct later_keys **parts, size_t count,
                        const char *name)
{
    for (size_t i = 0; i < whole->count; i++) {
        if (strcmp(whole->parts[i].queue, name) == 0)
            return whole_add_part(parts, count, &whole->parts[i]);
    }
    return count;
}

size_t whole_parts(const struct whole *whole, const char *id,
                   const struct later_keys *parts[LATER_WHOLE_MAX])
{
    later_queue_name route[LATER_COUNTS_MAX];
    size_t count = 0;

    for (size_t i = later_plan_route(&whole->plan, whole->name, id, route); i-- > 0;)
        count = add_named(whole, parts, count, route[i]);
    for (size_t i = 0; i < whole->count; i++)
        count = whole_add_part(parts, count, &whole->parts[i]);
    return count;
}
