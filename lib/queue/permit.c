/* permit.c: places, encoded and decoded. */
#include "queue/permit.h"

#include "redis/script.h"

static void begin(struct later_command *cmd, enum later_script script, const char *prefix,
                  const char *name, size_t groups)
{
    char key[LATER_KEY_MAX];

    later_key_running(key, prefix, name);
    later_script_begin(cmd, script, NULL, (const char *const[]){ key }, groups);
}

void later_permit_take(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token, uint32_t max, double ttl)
{
    begin(cmd, LATER_SCRIPT_PERMIT_TAKE, prefix, name, 0);
    later_command_text(cmd, token);
    later_command_int(cmd, max);
    later_command_seconds(cmd, ttl);
}

double later_permit_wait(const struct later_reply *reply)
{
    return later_reply_seconds(reply, 0);
}

void later_permit_touch(struct later_command *cmd, const char *prefix, const char *name, double ttl,
                        const char *const *tokens, size_t count)
{
    begin(cmd, LATER_SCRIPT_PERMIT_TOUCH, prefix, name, count);
    later_command_seconds(cmd, ttl);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, tokens[i]);
}

void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *const *tokens, size_t count)
{
    begin(cmd, LATER_SCRIPT_PERMIT_FREE, prefix, name, count);
    for (size_t i = 0; i < count; i++)
        later_command_text(cmd, tokens[i]);
}

void later_permit_next(struct later_command *cmd, const char *prefix, bool lock, const char *name)
{
    char key[LATER_KEY_MAX];

    later_key_waiting(key, prefix, lock, name);
    later_script_begin(cmd, LATER_SCRIPT_WAIT_NEXT, NULL, (const char *const[]){ key }, 0);
}

void later_permit_hasten(struct later_command *cmd, const struct later_keys *keys, double latest,
                         const char *id)
{
    later_script_begin(cmd, LATER_SCRIPT_HASTEN, keys, NULL, 1);
    later_command_seconds(cmd, latest);
    later_command_text(cmd, id);
}
