/* held.c: what is held beside queues. */
#include "queue/held.h"

#include <stdio.h>
#include <string.h>

#define PAGE 1000 /* keys that a SCAN is asked for */

static const struct {
    const char *word, *type;
} kinds[LATER_HELD_COUNT] = {
    [LATER_HELD_LOCK] = { "lock", NULL }, /* itself is a hash, its line a sorted set */
    [LATER_HELD_PERMIT] = { "permit", "zset" },
    [LATER_HELD_FIXED] = { "limit", "string" },
    [LATER_HELD_SLIDING] = { "limit", "list" },
};

const char *later_held_word(enum later_held kind)
{
    return kinds[kind].word;
}

/* --- which there are --- */

static void spell(char key[LATER_KEY_MAX], const char *prefix, enum later_held kind,
                  const char *name)
{
    if (kind == LATER_HELD_LOCK)
        later_key_lock(key, prefix, name, LATER_LOCK_ITSELF);
    else if (kind == LATER_HELD_PERMIT)
        later_key_running(key, prefix, name);
    else
        later_key_limit(key, prefix, name);
}

void later_held_scan(struct later_command *cmd, const char *prefix, enum later_held kind,
                     const char *cursor)
{
    const char *type = kinds[kind].type;
    char match[LATER_KEY_MAX];

    spell(match, prefix, kind, "*");
    strcat(match, "*"); /* and its line; a prefix and a name of one character leave room */
    later_command_begin(cmd, type ? 8 : 6);
    later_command_text(cmd, "SCAN");
    later_command_text(cmd, cursor);
    later_command_text(cmd, "MATCH");
    later_command_text(cmd, match);
    later_command_text(cmd, "COUNT");
    later_command_int(cmd, PAGE);
    if (type) {
        later_command_text(cmd, "TYPE");
        later_command_text(cmd, type);
    }
}

bool later_held_name(char name[LATER_HELD_NAME], const char *key, bool *waits)
{
    const char *from = strchr(key, '{'), *to = from ? strchr(from, '}') : NULL;
    size_t len = to ? (size_t)(to - from) - 1 : 0;

    if (len == 0 || len >= LATER_HELD_NAME)
        return false;
    memcpy(name, from + 1, len);
    name[len] = '\0';
    *waits = strcmp(to, "}:waiting") == 0;
    return later_key_name_valid(name) && (*waits || to[1] == '\0');
}

/* --- one of them --- */

static void begin(struct later_command *cmd, size_t count, const char *command, const char *key)
{
    later_command_begin(cmd, count);
    later_command_text(cmd, command);
    later_command_text(cmd, key);
}

/* From behind now to the end of time. */
static void add_range(struct later_command *cmd, double now)
{
    char from[LATER_SECONDS_SIZE + 1] = "(";

    later_seconds_spell(from + 1, now);
    later_command_text(cmd, from);
    later_command_text(cmd, "+inf");
}

static void add_limit(struct later_command *cmd, size_t limit)
{
    later_command_text(cmd, "LIMIT");
    later_command_int(cmd, 0);
    later_command_int(cmd, (int64_t)limit);
}

void later_held_holders(struct later_command *cmd, const char *prefix, const char *name, double now)
{
    char key[LATER_KEY_MAX];

    later_key_running(key, prefix, name);
    begin(cmd, 4, "ZCOUNT", key);
    add_range(cmd, now);
}

void later_held_first_end(struct later_command *cmd, const char *prefix, const char *name,
                          double now)
{
    char key[LATER_KEY_MAX];

    later_key_running(key, prefix, name);
    begin(cmd, 8, "ZRANGEBYSCORE", key);
    add_range(cmd, now);
    later_command_text(cmd, "WITHSCORES");
    add_limit(cmd, 1);
}

void later_held_waiting(struct later_command *cmd, const char *prefix, enum later_held kind,
                        const char *name, double now)
{
    char key[LATER_KEY_MAX];

    later_key_waiting(key, prefix, kind == LATER_HELD_LOCK, name);
    begin(cmd, 4, "ZCOUNT", key);
    add_range(cmd, now);
}

void later_held_waiters(struct later_command *cmd, const char *prefix, enum later_held kind,
                        const char *name, double now, size_t limit)
{
    char key[LATER_KEY_MAX];

    later_key_waiting(key, prefix, kind == LATER_HELD_LOCK, name);
    begin(cmd, 7, "ZRANGEBYSCORE", key);
    add_range(cmd, now);
    add_limit(cmd, limit);
}

void later_held_used(struct later_command *cmd, const char *prefix, enum later_held kind,
                     const char *name)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    begin(cmd, 2, kind == LATER_HELD_FIXED ? "GET" : "LLEN", key);
}

void later_held_oldest(struct later_command *cmd, const char *prefix, const char *name)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    begin(cmd, 3, "LINDEX", key);
    later_command_int(cmd, -1);
}

void later_held_left(struct later_command *cmd, const char *prefix, const char *name)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    begin(cmd, 2, "PTTL", key);
}
