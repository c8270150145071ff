/* held.c: the locks, permits and limits in use. */
#include "queue/held.h"

#include <stdio.h>
#include <string.h>

#define PAGE 1000 /* keys that a SCAN should look at */

static const struct {
    const char *word, *type;
} kinds[LATER_HELD_COUNT] = {
    [LATER_HELD_LOCK] = { "lock", NULL }, /* the lock is a hash, its line a sorted set */
    [LATER_HELD_PERMIT] = { "permit", "zset" },
    [LATER_HELD_FIXED] = { "limit", "string" },
    [LATER_HELD_SLIDING] = { "limit", "list" },
};

const char *later_held_word(enum later_held kind)
{
    return kinds[kind].word;
}

/* --- which there are --- */

void later_held_scan(struct later_command *cmd, const char *prefix, enum later_held kind,
                     const char *cursor)
{
    const char *type = kinds[kind].type;
    char match[LATER_KEY_MAX];

    if (kind == LATER_HELD_LOCK)
        later_key_lock(match, prefix, "*", LATER_LOCK_ITSELF);
    else if (kind == LATER_HELD_PERMIT)
        later_key_running(match, prefix, "*");
    else
        later_key_limit(match, prefix, "*");
    strcat(match, "*"); /* this also matches its line; a prefix and a name of one character leave
                         * room */
    if (type)
        later_command_say(cmd, "SCAN %s MATCH %s COUNT %d TYPE %s", cursor, match, PAGE, type);
    else
        later_command_say(cmd, "SCAN %s MATCH %s COUNT %d", cursor, match, PAGE);
}

bool later_held_name(char name[LATER_HELD_NAME], const char *key, bool *waits)
{
    const char *behind = later_key_tag(name, LATER_HELD_NAME, key);

    *waits = behind && strcmp(behind, ":waiting") == 0;
    return behind && later_key_name_valid(name) && (*waits || !*behind);
}

static enum later_line_for line_for(enum later_held kind)
{
    return kind == LATER_HELD_LOCK     ? LATER_LINE_LOCK
           : kind == LATER_HELD_PERMIT ? LATER_LINE_PERMIT
                                       : LATER_LINE_LIMIT;
}

/* --- one of them --- */

/* Writes the bound "after now" for a sorted set. */
static void spell_from(char from[LATER_SECONDS_SIZE + 1], double now)
{
    from[0] = '(';
    later_seconds_spell(from + 1, now);
}

static void count_from(struct later_command *cmd, const char *key, double now)
{
    char from[LATER_SECONDS_SIZE + 1];

    spell_from(from, now);
    later_command_say(cmd, "ZCOUNT %s %s +inf", key, from);
}

void later_held_holders(struct later_command *cmd, const char *prefix, const char *name, double now)
{
    char key[LATER_KEY_MAX];

    later_key_running(key, prefix, name);
    count_from(cmd, key, now);
}

void later_held_first_end(struct later_command *cmd, const char *prefix, const char *name,
                          double now)
{
    char key[LATER_KEY_MAX], from[LATER_SECONDS_SIZE + 1];

    later_key_running(key, prefix, name);
    spell_from(from, now);
    later_command_say(cmd, "ZRANGEBYSCORE %s %s +inf WITHSCORES LIMIT 0 1", key, from);
}

void later_held_key(char key[LATER_KEY_MAX], const char *prefix, enum later_held kind,
                    const char *name)
{
    later_key_line(key, prefix, line_for(kind), name, false);
}

void later_held_waiting(struct later_command *cmd, const char *prefix, enum later_held kind,
                        const char *name)
{
    char key[LATER_KEY_MAX];

    later_held_key(key, prefix, kind, name);
    later_command_say(cmd, "ZCOUNT %s (0 +inf", key);
}

void later_held_waiters(struct later_command *cmd, const char *prefix, enum later_held kind,
                        const char *name, size_t limit)
{
    char key[LATER_KEY_MAX];

    later_held_key(key, prefix, kind, name);
    later_command_say(cmd, "ZRANGEBYSCORE %s (0 +inf LIMIT 0 %ju", key, (uintmax_t)limit);
}

void later_held_used(struct later_command *cmd, const char *prefix, enum later_held kind,
                     const char *name)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    later_command_say(cmd, "%s %s", kind == LATER_HELD_FIXED ? "GET" : "LLEN", key);
}

void later_held_oldest(struct later_command *cmd, const char *prefix, const char *name,
                       int64_t last)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    if (last > 0)
        later_command_say(cmd, "LINDEX %s %ju", key, (uintmax_t)(last - 1));
    else
        later_command_say(cmd, "LINDEX %s -1", key);
}

void later_held_left(struct later_command *cmd, const char *prefix, const char *name)
{
    char key[LATER_KEY_MAX];

    later_key_limit(key, prefix, name);
    later_command_say(cmd, "PTTL %s", key);
}
