/* script.c: calls to the embedded scripts. */
#include "redis/script.h"

#include <string.h>

void later_script_begin(struct later_command *cmd, enum later_script script,
                        const struct later_keys *keys, const char *const *other, size_t groups)
{
    const struct later_script_text *text = &later_script_texts[script];
    size_t count = (size_t)text->argc + groups * (size_t)text->group;

    cmd->script = text;
    later_command_begin(cmd, 3 + (size_t)text->key_count + count);
    later_command_bytes(cmd, "EVALSHA", 7);
    later_command_bytes(cmd, text->sha, 40);
    later_command_int(cmd, text->key_count);
    for (int i = 0; i < text->key_count; i++) {
        int key = text->keys[i];

        if (key < 0)
            later_command_text(cmd, *other++);
        else
            later_command_bytes(cmd, keys->name[key], keys->len[key]);
    }
}

void later_script_begin_held(struct later_command *cmd, enum later_script script,
                             const struct later_keys *keys, const char *token, size_t groups)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_script_begin(cmd, script, keys, (const char *const[]){ held }, groups);
}

void later_script_load(struct later_command *cmd, enum later_script script)
{
    later_command_begin(cmd, 3);
    later_command_text(cmd, "SCRIPT");
    later_command_text(cmd, "LOAD");
    later_command_bytes(cmd, later_script_texts[script].text, later_script_texts[script].len);
}
