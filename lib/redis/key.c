/* key.c: every Redis key name. */
#include "redis/key.h"

#include "base/spell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[LATER_KEY_COUNT] = {
    [LATER_KEY_READY] = "ready",
    [LATER_KEY_DELAYED] = "delayed",
    [LATER_KEY_RESERVED] = "reserved",
    [LATER_KEY_DEAD] = "dead",
    [LATER_KEY_JOBS] = "jobs",
    [LATER_KEY_RECORDS] = "records",
    [LATER_KEY_UNIQUE] = "unique",
    [LATER_KEY_WAKE] = "wake",
    [LATER_KEY_PAUSED] = "paused",
    [LATER_KEY_STATS] = "stats",
    [LATER_KEY_SHARDS] = "shards",
    [LATER_KEY_TOTALS] = "totals",
    [LATER_KEY_DUE] = "due",
    [LATER_KEY_CRON] = "cron",
    [LATER_KEY_CRONTAB] = "crontab",
    [LATER_KEY_DONE] = "done",
    [LATER_KEY_KEPT] = "kept",
    [LATER_KEY_CANCELLED] = "cancelled",
    [LATER_KEY_WAITING] = "waiting",
    [LATER_KEY_FLOWS] = "flows",
    [LATER_KEY_NEWS] = "news",
    [LATER_KEY_AWAY] = "away",
    [LATER_KEY_HEARD] = "heard",
    [LATER_KEY_FAIR] = "fair",
    [LATER_KEY_GROUPS] = "groups",
    [LATER_KEY_EVENTS] = "events",
    [LATER_KEY_OVERRIDES] = "overrides",
};

/* Is text 1 … max characters, each a letter, a digit or one of `others`? */
static bool consists_of(const char *text, size_t max, const char *others)
{
    size_t len = 0;

    for (; text[len]; len++) {
        char c = text[len];
        bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

        if (len == max || (!plain && !strchr(others, c)))
            return false;
    }
    return len > 0;
}

bool later_key_queue_valid(const char *queue)
{
    return consists_of(queue, LATER_QUEUE_MAX, "_.-");
}

bool later_key_shard_valid(const char *queue)
{
    size_t len = strcspn(queue, "/");
    char whole[LATER_QUEUE_MAX + 1];

    if (!queue[len])
        return later_key_queue_valid(queue);
    if (len > LATER_SHARDED_MAX)
        return false;
    memcpy(whole, queue, len);
    whole[len] = '\0';
    queue += len + 1;
    len = strspn(queue, "0123456789");
    return later_key_queue_valid(whole) && len > 0 && len < 3 && !queue[len] &&
           (len == 1 || *queue != '0');
}

bool later_key_prefix_valid(const char *prefix)
{
    return consists_of(prefix, LATER_PREFIX_MAX, "_.:-");
}

bool later_key_name_valid(const char *name)
{
    size_t len = 0;

    for (; name[len]; len++) {
        if (len == 200 || name[len] <= ' ' || name[len] > '~' || name[len] == '{' ||
            name[len] == '}')
            return false;
    }
    return len > 0;
}

void later_keys_init(struct later_keys *keys, const char *prefix, const char *queue)
{
    char head[sizeof keys->name[0]];
    size_t len, most = sizeof keys->name[0] - 1;

    later_spell_text(keys->queue, sizeof keys->queue, queue);
    len = (size_t)snprintf(head, sizeof head, "%s:{%s}:", prefix, keys->queue);
    len = len < most ? len : most;
    /* A push makes them all, so this is a copy each and no formatting. */
    for (int i = 0; i < LATER_KEY_COUNT; i++) {
        size_t rest = strlen(names[i]);

        rest = rest < most - len ? rest : most - len;
        memcpy(keys->name[i], head, len);
        memcpy(keys->name[i] + len, names[i], rest);
        keys->name[i][len + rest] = '\0';
        keys->len[i] = len + rest;
    }
}

/* Returns the length of what all keys of a queue have in common: `later:{Q}:`. */
static int stem(const struct later_keys *keys)
{
    return (int)(keys->len[LATER_KEY_READY] - strlen(names[LATER_KEY_READY]));
}

size_t later_key_call(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *call)
{
    size_t len = (size_t)stem(keys);

    memcpy(out, keys->name[LATER_KEY_READY], len);
    len += later_spell_text(out + len, LATER_KEY_MAX - len, "call:");
    return len + later_spell_text(out + len, 64 + 1, call);
}

size_t later_key_period(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *scale,
                        int64_t number)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%.*s%.16s:%" PRId64, stem(keys),
                            keys->name[LATER_KEY_READY], scale, number);
}

size_t later_key_held(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *token)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:%.64s", keys->name[LATER_KEY_RESERVED], token);
}

size_t later_key_aside(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *type)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%.*saside:%.128s", stem(keys),
                            keys->name[LATER_KEY_READY], type);
}

size_t later_key_result(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *id)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%.*sresult:%.200s", stem(keys),
                            keys->name[LATER_KEY_READY], id);
}

size_t later_key_flow(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *flow,
                      const char *part)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%.*sflow:%.64s%.8s", stem(keys),
                            keys->name[LATER_KEY_READY], flow, part);
}

size_t later_key_stock(char out[LATER_KEY_MAX], const char *prefix, const char *item, bool claims)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:stock:{%.200s}%s", prefix, item,
                            claims ? ":claims" : "");
}

size_t later_key_limit(char out[LATER_KEY_MAX], const char *prefix, const char *name)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:limit:{%.200s}", prefix, name);
}

size_t later_key_running(char out[LATER_KEY_MAX], const char *prefix, const char *name)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:running:{%.200s}", prefix, name);
}

size_t later_key_line(char out[LATER_KEY_MAX], const char *prefix, enum later_line_for what,
                      const char *name, bool due)
{
    static const char *const words[] = {
        [LATER_LINE_LOCK] = "lock",
        [LATER_LINE_PERMIT] = "running",
        [LATER_LINE_LIMIT] = "limit",
    };

    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:%s:{%.200s}:%s", prefix, words[what], name,
                            due ? "due" : "waiting");
}

size_t later_key_lock(char out[LATER_KEY_MAX], const char *prefix, const char *name,
                      enum later_lock_key which)
{
    static const char *const ends[] = {
        [LATER_LOCK_ITSELF] = "",
        [LATER_LOCK_FENCE] = ":fence",
        [LATER_LOCK_WAKE] = ":wake",
    };

    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:lock:{%.200s}%s", prefix, name, ends[which]);
}

bool later_keys_of_host(struct later_keys *keys, const char *prefix, const char *host)
{
    char name[LATER_QUEUE_MAX + 1];

    if (!later_key_queue_valid(host) ||
        (size_t)snprintf(name, sizeof name, "host:%s", host) >= sizeof name)
        return false;
    later_keys_init(keys, prefix, name);
    return true;
}

void later_keys_of_limits(struct later_keys *keys, const char *prefix)
{
    later_keys_init(keys, prefix, LATER_KEY_LIMITS);
}

size_t later_key_queues(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:queues", prefix);
}

size_t later_key_hosts(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:hosts", prefix);
}

size_t later_key_lookers(char out[LATER_KEY_MAX], const char *prefix, const char *name)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:lookers:{%.200s}", prefix, name);
}

size_t later_key_lost(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:lost", prefix);
}

size_t later_key_forgotten(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:forgotten", prefix);
}

size_t later_key_marks(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:marks", prefix);
}

size_t later_key_searches(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:searches", prefix);
}

size_t later_key_totals(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:totals", prefix);
}

size_t later_key_protocol(char out[LATER_KEY_MAX], const char *prefix)
{
    return (size_t)snprintf(out, LATER_KEY_MAX, "%s:protocol", prefix);
}

bool later_protocol_differs(const char *text, const char *key, char why[LATER_PROTOCOL_WHY])
{
    size_t len = strspn(text, "0123456789");
    double number = len > 0 && !text[len] ? strtod(text, NULL) : 0;

    why[0] = '\0';
    if (number > LATER_PROTOCOL)
        snprintf(why, LATER_PROTOCOL_WHY,
                 "a newer later keeps its jobs there (%.80s is %.20s, we know %d); install that "
                 "version",
                 key, text, LATER_PROTOCOL);
    else if (number > 0 && number < LATER_PROTOCOL)
        snprintf(why, LATER_PROTOCOL_WHY,
                 "an older later keeps its jobs there (%.80s is %.20s, we know %d); let it finish "
                 "and delete its keys, or use another prefix",
                 key, text, LATER_PROTOCOL);
    return why[0];
}

const char *later_key_tag(char *out, size_t size, const char *key)
{
    const char *open = strchr(key, '{'), *shut = open ? strchr(open, '}') : NULL;
    size_t len = shut ? (size_t)(shut - open) - 1 : 0;

    if (!shut || len >= size)
        return NULL;
    memcpy(out, open + 1, len);
    out[len] = '\0';
    return shut + 1;
}

const char *later_key_name(enum later_key key)
{
    return names[key];
}
