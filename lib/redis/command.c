/* command.c: Redis commands in wire format. */
#include "redis/command.h"

#include "base/spell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool command_make_room(struct later_command *cmd, size_t more)
{
    size_t room = cmd->room ? cmd->room : 256;
    char *data;

    if (cmd->failed)
        return false;
    if (cmd->len + more <= cmd->room)
        return true;
    while (room < cmd->len + more)
        room *= 2;
    data = realloc(cmd->data, room);
    if (!data) {
        cmd->failed = true;
        return false;
    }
    cmd->data = data;
    cmd->room = room;
    return true;
}

static void command_put(struct later_command *cmd, const char *bytes, size_t len)
{
    memcpy(cmd->data + cmd->len, bytes, len);
    cmd->len += len;
}

/* Writes `*N` or `$N` and CR LF, for which there is room. */
static void put_count(struct later_command *cmd, char kind, size_t count)
{
    char *to = cmd->data + cmd->len;
    size_t len = 1 + later_spell_number(to + 1, count);

    *to = kind;
    memcpy(to + len, "\r\n", 2);
    cmd->len += len + 2;
}

void later_command_begin(struct later_command *cmd, size_t count)
{
    if (cmd->missing)
        cmd->failed = true;
    if (command_make_room(cmd, 24))
        put_count(cmd, '*', count);
    cmd->missing = count;
}

void later_command_bytes(struct later_command *cmd, const char *bytes, size_t len)
{
    if (!cmd->missing)
        cmd->failed = true;
    if (!command_make_room(cmd, len + 26))
        return;
    cmd->missing--;
    put_count(cmd, '$', len);
    command_put(cmd, bytes, len);
    command_put(cmd, "\r\n", 2);
}

void later_command_text(struct later_command *cmd, const char *text)
{
    later_command_bytes(cmd, text, strlen(text));
}

void later_command_texts(struct later_command *cmd, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, texts[i]);
}

void later_command_int(struct later_command *cmd, int64_t number)
{
    char text[1 + LATER_SPELLED] = "-";
    size_t len = number < 0;

    len += later_spell_number(text + len, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    later_command_bytes(cmd, text, len);
}

size_t later_seconds_spell(char out[LATER_SECONDS_SIZE], double seconds)
{
    double least = seconds > 0 ? seconds : 0; /* NaN is not */
    int64_t micros = (int64_t)((least < 1e12 ? least : 1e12) * 1e6 + 0.5);

    return (size_t)snprintf(out, LATER_SECONDS_SIZE, "%" PRId64 ".%06" PRId64, micros / 1000000,
                            micros % 1000000);
}

void later_command_seconds(struct later_command *cmd, double seconds)
{
    char text[LATER_SECONDS_SIZE];
    size_t len = later_seconds_spell(text, seconds);

    later_command_bytes(cmd, text, len);
}

static void command_put_words(struct later_command *cmd, size_t more, const char *words,
                              va_list args)
{
    size_t count = 1, len;

    for (const char *p = words; (p = strchr(p, ' ')); p++)
        count++;
    later_command_begin(cmd, count + more);
    for (; count > 0; count--, words += len + 1) {
        len = strcspn(words, " ");
        if (strncmp(words, "%s", 2) == 0)
            later_command_text(cmd, va_arg(args, const char *));
        else if (strncmp(words, "%d", 2) == 0)
            later_command_int(cmd, va_arg(args, int));
        else if (strncmp(words, "%ju", 3) == 0)
            later_command_int(cmd, (int64_t)va_arg(args, uintmax_t));
        else if (strncmp(words, "%f", 2) == 0)
            later_command_seconds(cmd, va_arg(args, double));
        else
            later_command_bytes(cmd, words, len);
    }
}

void later_command_say(struct later_command *cmd, const char *words, ...)
{
    va_list args;

    va_start(args, words);
    command_put_words(cmd, 0, words, args);
    va_end(args);
}

void later_command_open(struct later_command *cmd, size_t more, const char *words, ...)
{
    va_list args;

    va_start(args, words);
    command_put_words(cmd, more, words, args);
    va_end(args);
}

bool later_command_ready(const struct later_command *cmd)
{
    return !cmd->failed && !cmd->missing && cmd->len > 0;
}

void later_command_free(struct later_command *cmd)
{
    free(cmd->data);
    *cmd = (struct later_command){ 0 };
}
