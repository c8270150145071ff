/* nodes.c: who has which slot. */
#include "redis/nodes.h"

#include "redis/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int later_nodes_enter(struct later_nodes *nodes, const char *host, const char *port)
{
    int free = nodes->count;

    /* By the specification, a host "?" is one that the node itself does not know. */
    if (strcmp(host, "?") == 0 || !later_address_is(host, port))
        return LATER_NO_NODE;
    for (int i = nodes->count - 1; i >= 0; i--) {
        if (strcmp(nodes->list[i].host, host) == 0 && strcmp(nodes->list[i].port, port) == 0) {
            nodes->list[i].named = true;
            return i;
        }
        if (!nodes->list[i].host[0])
            free = i;
    }
    if (free == LATER_NODES_MAX)
        return LATER_NO_NODE;
    memset(&nodes->list[free], 0, sizeof nodes->list[free]);
    strcpy(nodes->list[free].host, host);
    strcpy(nodes->list[free].port, port);
    nodes->list[free].named = true;
    if (free == nodes->count)
        nodes->count++;
    return free;
}

int later_nodes_of(const struct later_nodes *nodes, int slot)
{
    return slot >= 0 && slot < LATER_SLOTS ? nodes->of[slot] - 1 : LATER_NO_NODE;
}

void later_nodes_move(struct later_nodes *nodes, int slot, int node)
{
    nodes->of[slot] = (uint8_t)(node + 1);
    if (node != LATER_NO_NODE)
        nodes->list[node].master = true;
}

/* A node as CLUSTER SLOTS has it: host, port, and more. */
static int enter_reply(struct later_nodes *nodes, const struct later_reply *reply, int from)
{
    const char *host = later_reply_text(later_reply_at(reply, 0), NULL);
    char port[24];

    if (later_reply_count(reply) < 2)
        return LATER_NO_NODE;
    if (!*host && from != LATER_NO_NODE)
        host = nodes->list[from].host;
    snprintf(port, sizeof port, "%lld", (long long)later_reply_int(later_reply_at(reply, 1)));
    return later_nodes_enter(nodes, host, port);
}

/* Enters a range (first slot, last slot, master, replica …) into `of`. *left: how many slots may
 * still be named. */
static bool take_range(struct later_nodes *nodes, const struct later_reply *range, int from,
                       uint8_t of[LATER_SLOTS], int64_t *left)
{
    int64_t first = later_reply_int(later_reply_at(range, 0));
    int64_t last = later_reply_int(later_reply_at(range, 1));
    int node = enter_reply(nodes, later_reply_at(range, 2), from);

    if (node == LATER_NO_NODE || first < 0 || last < first || last >= LATER_SLOTS ||
        last - first >= *left)
        return false;
    *left -= last - first + 1;
    for (int64_t slot = first; slot <= last; slot++)
        of[slot] = (uint8_t)(node + 1);
    for (size_t i = 3; i < later_reply_count(range); i++)
        (void)enter_reply(nodes, later_reply_at(range, i), from);
    return true;
}

int later_nodes_take(struct later_nodes *nodes, const struct later_reply *reply, int from)
{
    uint8_t of[LATER_SLOTS] = { 0 };
    int64_t left = LATER_SLOTS;
    bool any = false, named[LATER_NODES_MAX];
    int moved;

    for (int i = 0; i < LATER_NODES_MAX; i++) {
        named[i] = nodes->list[i].named;
        nodes->list[i].named = false;
    }
    for (size_t i = 0; i < later_reply_count(reply) && left > 0; i++)
        any |= take_range(nodes, later_reply_at(reply, i), from, of, &left);
    if (!any) {
        for (int i = 0; i < LATER_NODES_MAX; i++)
            nodes->list[i].named |= named[i];
        return -1;
    }
    moved = memcmp(nodes->of, of, sizeof of) != 0;
    memcpy(nodes->of, of, sizeof of);
    for (int i = 0; i < nodes->count; i++)
        nodes->list[i].master = false;
    for (int slot = 0; slot < LATER_SLOTS; slot++) {
        if (of[slot])
            nodes->list[of[slot] - 1].master = true;
    }
    return moved;
}

bool later_nodes_is_gone(const struct later_nodes *nodes, int node)
{
    return nodes->list[node].host[0] && !nodes->list[node].named && !nodes->list[node].seed &&
           !nodes->list[node].master;
}

void later_nodes_forget(struct later_nodes *nodes, int node)
{
    memset(&nodes->list[node], 0, sizeof nodes->list[node]);
}

int later_nodes_redirected(struct later_nodes *nodes, const char *text, int from, int *slot)
{
    char host[256], *end, *colon;
    long number;

    text += strcspn(text, " ");
    number = strtol(text, &end, 10);
    if (end == text || *end != ' ' || number < 0 || number >= LATER_SLOTS ||
        strlen(end + 1) >= sizeof host)
        return LATER_NO_NODE;
    *slot = (int)number;
    strcpy(host, end + 1);
    colon = strrchr(host, ':'); /* an IPv6 address has several colons */
    if (!colon)
        return LATER_NO_NODE;
    *colon = '\0';
    return later_nodes_enter(nodes, *host ? host : nodes->list[from].host, colon + 1);
}
