/* override.c: encodes and decodes what is laid over the configuration of a queue. */
#include "queue/override.h"

#include "redis/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool later_override_type_valid(const char *type)
{
    size_t len = strspn(type, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-");

    if (type[len] == '*')
        len++;
    return len > 0 && len <= LATER_TYPE_MAX && !type[len];
}

const char *later_override_named(const char *name)
{
    size_t len = strlen(LATER_OVERRIDE_TYPE);

    return strncmp(name, LATER_OVERRIDE_TYPE, len) == 0 ? name + len : NULL;
}

const char *later_override_type(const struct later_override *override)
{
    return later_override_named(override->name);
}

static void override_lay(struct later_command *cmd, const struct later_keys *keys, const char *name,
                         double seconds, const char *who, const char *words)
{
    later_script_begin(cmd, LATER_SCRIPT_OVERRIDE, keys, NULL, 0);
    later_command_text(cmd, name);
    later_command_int(cmd, (int64_t)(seconds * 1000));
    later_command_text(cmd, who);
    later_command_text(cmd, words);
}

static void override_of_type(char name[LATER_OVERRIDE_NAME], const char *type)
{
    snprintf(name, LATER_OVERRIDE_NAME, LATER_OVERRIDE_TYPE "%s", type);
}

void later_override_pause(struct later_command *cmd, const struct later_keys *keys,
                          const char *type, double seconds, const char *who, const char *words)
{
    char name[LATER_OVERRIDE_NAME];

    override_of_type(name, type);
    override_lay(cmd, keys, name, seconds, who, words);
}

void later_override_set(struct later_command *cmd, const struct later_keys *keys, const char *name,
                        const struct later_numbers *numbers, double seconds, const char *who)
{
    char words[48];

    snprintf(words, sizeof words, "%u %.3f", (unsigned)numbers->max, numbers->per);
    override_lay(cmd, keys, name, seconds, who, words);
}

void later_override_unset(struct later_command *cmd, const struct later_keys *keys,
                          const char *name)
{
    later_script_begin(cmd, LATER_SCRIPT_OVERRIDE, keys, NULL, 0);
    later_command_text(cmd, name);
    for (int i = 0; i < 3; i++)
        later_command_text(cmd, "");
}

void later_override_resume(struct later_command *cmd, const struct later_keys *keys,
                           const char *type)
{
    char name[LATER_OVERRIDE_NAME];

    override_of_type(name, type);
    later_override_unset(cmd, keys, name);
}

bool later_override_numbers(const char *words, struct later_numbers *numbers)
{
    *numbers = (struct later_numbers){ 0 };
    return sscanf(words, "%" SCNu32 " %lf", &numbers->max, &numbers->per) == 2 && numbers->max > 0;
}

size_t later_override_covers(const char *laid, enum later_line_for what, const char *name)
{
    const char *kind = what == LATER_LINE_LIMIT    ? LATER_OVERRIDE_LIMIT
                       : what == LATER_LINE_PERMIT ? LATER_OVERRIDE_PERMIT
                                                   : NULL;
    size_t len;

    if (!kind || strncmp(laid, kind, strlen(kind)) != 0)
        return 0;
    laid += strlen(kind);
    len = strlen(laid);
    if (strcmp(laid, name) == 0)
        return SIZE_MAX;
    return len > 0 && strchr(":=", laid[len - 1]) && strncmp(laid, name, len) == 0 ? len : 0;
}

void later_override_ask(struct later_command *cmd, const struct later_keys *keys)
{
    later_command_say(cmd, "HGETALL %s", keys->name[LATER_KEY_OVERRIDES]);
}

bool later_override_read(const struct later_reply *reply, size_t i, double now,
                         struct later_override *override)
{
    const char *name = later_reply_text(later_reply_at(reply, 2 * i), NULL);
    const char *text = later_reply_text(later_reply_at(reply, 2 * i + 1), NULL);
    int words = 0;

    *override = (struct later_override){ 0 };
    if (strlen(name) >= sizeof override->name ||
        sscanf(text, "%lf %lf %64s%n", &override->since, &override->until, override->who, &words) <
            2)
        return false;
    strcpy(override->name, name);
    if (strcmp(override->who, "-") == 0)
        override->who[0] = '\0';
    if (words > 0 && text[words] == ' ')
        snprintf(override->words, sizeof override->words, "%s", text + words + 1);
    return override->until <= 0 || override->until > now;
}

void later_override_kept(struct later_command *cmd, const struct later_keys *keys, const char *type)
{
    char key[LATER_KEY_MAX];

    later_key_aside(key, keys, type);
    later_command_say(cmd, "ZCARD %s", key);
}

void later_override_heed(struct later_command *cmd, const struct later_keys *keys)
{
    later_script_begin(cmd, LATER_SCRIPT_HEED, keys, NULL, 0);
}

bool later_override_heeded(const struct later_reply *reply, size_t i, struct later_heeded *heeded)
{
    const char *text;

    if (2 * i + 2 >= later_reply_count(reply))
        return false;
    text = later_reply_text(later_reply_at(reply, 2 * i + 1), NULL);
    later_override_numbers(text + strcspn(text, " "), &heeded->numbers);
    snprintf(heeded->name, sizeof heeded->name, "%.*s", (int)strcspn(text, " "), text);
    heeded->left = later_reply_seconds(later_reply_at(reply, 2 * i + 2), 0);
    return true;
}

bool later_override_more(const struct later_reply *reply)
{
    return later_reply_int(later_reply_at(reply, 0)) == 1;
}
