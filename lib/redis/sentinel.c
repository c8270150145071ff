/* sentinel.c: asking Redis Sentinels who is master. */
#include "redis/sentinel.h"

#include <stdio.h>
#include <string.h>

void later_turns_init(struct later_turns *turns, unsigned count)
{
    *turns = (struct later_turns){ .count = (uint8_t)count };
    for (unsigned i = 0; i < count; i++)
        turns->order[i] = (uint8_t)i;
}

void later_turns_begin(struct later_turns *turns)
{
    turns->at = 0;
}

unsigned later_turns_now(const struct later_turns *turns)
{
    return turns->order[turns->at];
}

bool later_turns_next(struct later_turns *turns)
{
    if (turns->at + 1 >= turns->count)
        return false;
    turns->at++;
    return true;
}

void later_turns_right(struct later_turns *turns)
{
    uint8_t now = turns->order[turns->at];

    memmove(turns->order + 1, turns->order, turns->at);
    turns->order[0] = now;
    turns->at = 0;
}

void later_turns_wrong(struct later_turns *turns)
{
    uint8_t now = turns->order[turns->at];
    size_t behind = turns->count - turns->at - 1U;

    memmove(turns->order + turns->at, turns->order + turns->at + 1, behind);
    turns->order[turns->count - 1] = now;
    turns->at = 0;
}

void later_sentinel_ask(struct later_command *cmd, const char *master)
{
    later_command_say(cmd, "SENTINEL get-master-addr-by-name %s", master);
}

int later_sentinel_named(const struct later_reply *reply, struct later_address *to)
{
    const char *host = later_reply_text(later_reply_at(reply, 0), NULL);
    const char *port = later_reply_text(later_reply_at(reply, 1), NULL);

    if (later_reply_count(reply) != 2 || !later_address_is(host, port))
        return -1;
    snprintf(to->host, sizeof to->host, "%s", host);
    snprintf(to->port, sizeof to->port, "%s", port);
    return 0;
}

bool later_sentinel_is_master(const struct later_reply *reply)
{
    return strcmp(later_reply_text(later_reply_at(reply, 0), NULL), "master") == 0;
}

bool later_sentinel_switched(const char *text, const char *master, char peer[LATER_PEER_SIZE])
{
    size_t len = strlen(master);
    char host[256], port[6], end;

    if (strncmp(text, master, len) != 0 || text[len] != ' ' ||
        sscanf(text + len, " %*s %*s %255s %5s%c", host, port, &end) != 2 ||
        !later_address_is(host, port))
        return false;
    snprintf(peer, LATER_PEER_SIZE, "%s:%s", host, port);
    return true;
}

bool later_sentinel_promoted(const char *text, const char *master, char peer[LATER_PEER_SIZE])
{
    char host[256], port[6], name[64];

    if (sscanf(text, "slave %*s %255s %5s @ %63s", host, port, name) != 3 ||
        strcmp(name, master) != 0 || !later_address_is(host, port))
        return false;
    snprintf(peer, LATER_PEER_SIZE, "%s:%s", host, port);
    return true;
}

void later_sentinel_peer(const struct later_address *address, char peer[LATER_PEER_SIZE])
{
    if (address->host[0])
        snprintf(peer, LATER_PEER_SIZE, "%s:%s", address->host, address->port);
    else
        peer[0] = '\0';
}
