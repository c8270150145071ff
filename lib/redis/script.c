/* script.c: calls to the embedded scripts. */
#include "redis/script.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_ARGS 3 /* behind the lines: the host, how many are kept, how many lines */

void later_script_tell(struct later_command *cmd, size_t count)
{
    cmd->told = count;
}

void later_script_more(struct later_command *cmd, const char *const *keys, size_t count)
{
    cmd->more = keys;
    cmd->more_count = count;
}

void later_script_begin(struct later_command *cmd, enum later_script script,
                        const struct later_keys *keys, const char *const *other, size_t groups)
{
    const struct later_script_text *text = &later_script_texts[script];
    size_t count = (size_t)text->argc + groups * (size_t)text->group;
    int key_count = text->key_count + (int)cmd->more_count + (cmd->told ? 1 : 0);

    cmd->script = text;
    count += cmd->told ? cmd->told + TOLD_ARGS : 0;
    later_command_begin(cmd, 3 + (size_t)key_count + count);
    later_command_bytes(cmd, "EVALSHA", 7);
    later_command_bytes(cmd, cmd->told ? text->told : text->sha, 40);
    later_command_int(cmd, key_count);
    for (int i = 0; i < text->key_count; i++) {
        int key = text->keys[i];

        if (key < 0)
            later_command_text(cmd, *other++);
        else
            later_command_bytes(cmd, keys->name[key], keys->len[key]);
    }
    for (size_t i = 0; i < cmd->more_count; i++)
        later_command_text(cmd, cmd->more[i]);
    later_script_more(cmd, NULL, 0);
    if (cmd->told)
        later_command_bytes(cmd, keys->name[LATER_KEY_EVENTS], keys->len[LATER_KEY_EVENTS]);
}

void later_script_begin_held(struct later_command *cmd, enum later_script script,
                             const struct later_keys *keys, const char *token, size_t groups)
{
    char held[LATER_KEY_MAX];

    later_key_held(held, keys, token);
    later_script_begin(cmd, script, keys, (const char *const[]){ held }, groups);
}

/* What tells is loaded whole. Without memory the command becomes failed. */
static void script_add_told(struct later_command *cmd, const struct later_script_text *text)
{
    const struct later_script_around *around = &later_script_told;
    char *whole = malloc(around->before_len + text->len + around->after_len);

    if (!whole) {
        cmd->failed = true;
        return;
    }
    memcpy(whole, around->before, around->before_len);
    memcpy(whole + around->before_len, text->text, text->len);
    memcpy(whole + around->before_len + text->len, around->after, around->after_len);
    later_command_bytes(cmd, whole, around->before_len + text->len + around->after_len);
    free(whole);
}

void later_script_load(struct later_command *cmd, enum later_script script, bool told)
{
    const struct later_script_text *text = &later_script_texts[script];

    later_command_open(cmd, 1, "SCRIPT LOAD");
    if (told)
        script_add_told(cmd, text);
    else
        later_command_bytes(cmd, text->text, text->len);
}
