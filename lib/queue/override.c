/* override.c: encodes and decodes what is laid over the configuration of a queue. */
#include "queue/override.h"

#include "redis/script.h"

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

static void override_begin(struct later_command *cmd, const struct later_keys *keys,
                           const char *type)
{
    char name[LATER_OVERRIDE_NAME];

    snprintf(name, sizeof name, LATER_OVERRIDE_TYPE "%s", type);
    later_script_begin(cmd, LATER_SCRIPT_OVERRIDE, keys, NULL, 0);
    later_command_text(cmd, name);
}

void later_override_pause(struct later_command *cmd, const struct later_keys *keys,
                          const char *type, double seconds, const char *who, const char *words)
{
    override_begin(cmd, keys, type);
    later_command_int(cmd, (int64_t)(seconds * 1000));
    later_command_text(cmd, who);
    later_command_text(cmd, words);
}

void later_override_resume(struct later_command *cmd, const struct later_keys *keys,
                           const char *type)
{
    override_begin(cmd, keys, type);
    for (int i = 0; i < 3; i++)
        later_command_text(cmd, "");
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
    if (2 * i + 2 >= later_reply_count(reply))
        return false;
    heeded->name = later_reply_text(later_reply_at(reply, 2 * i + 1), NULL);
    heeded->left = later_reply_seconds(later_reply_at(reply, 2 * i + 2), 0);
    return true;
}

bool later_override_more(const struct later_reply *reply)
{
    return later_reply_int(later_reply_at(reply, 0)) == 1;
}
