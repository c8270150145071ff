/* connections.c: counts connections to each node. */
#include "link/connections.h"

#include <stdio.h>
#include <string.h>

static void connections_count_in(struct connections *connections, const char *node, uint32_t count)
{
    uint32_t i = 0;

    while (i < connections->count && strcmp(connections->nodes[i].node, node) != 0)
        i++;
    if (i == CONNECTIONS_NODES)
        return;
    if (i == connections->count) {
        snprintf(connections->nodes[i].node, CONNECTIONS_NAME, "%s", node);
        connections->nodes[i].connections = 0;
        connections->count++;
    }
    connections->nodes[i].connections += count;
}

static void on_node(void *arg, const char *node)
{
    char name[CONNECTIONS_NAME];

    snprintf(name, sizeof name, "%s", node);
    connections_count_in(arg, name, 1);
}

void connections_add(struct connections *connections, const struct later_redis *redis)
{
    later_redis_connections(redis, on_node, connections);
}

void connections_add_all(struct connections *connections, const struct connections *more)
{
    uint32_t count = more->count < CONNECTIONS_NODES ? more->count : CONNECTIONS_NODES;

    for (uint32_t i = 0; i < count; i++) {
        char name[CONNECTIONS_NAME];

        memcpy(name, more->nodes[i].node, sizeof name);
        name[sizeof name - 1] = '\0';
        name[strcspn(name, "\"\\")] = '\0'; /* a handler may have overwritten it */
        connections_count_in(connections, name, more->nodes[i].connections);
    }
}
