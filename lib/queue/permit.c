/* permit.c: encodes and decodes the calls of permits. */
#include "queue/permit.h"

#include "redis/script.h"

#include <stdlib.h>
#include <string.h>

static void permit_begin(struct later_command *cmd, enum later_script script, const char *prefix,
                         const char *name, size_t groups)
{
    char key[LATER_KEY_MAX];

    later_key_running(key, prefix, name);
    later_script_begin(cmd, script, NULL, (const char *const[]){ key }, groups);
}

void later_permit_take(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token, uint32_t max, double ttl, const char *waiter)
{
    char running[LATER_KEY_MAX], waiting[LATER_KEY_MAX], due[LATER_KEY_MAX];

    later_key_running(running, prefix, name);
    later_key_line(waiting, prefix, LATER_LINE_PERMIT, name, false);
    later_key_line(due, prefix, LATER_LINE_PERMIT, name, true);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_PERMIT_TAKE, NULL, 0, running, waiting, due);
    later_command_text(cmd, token);
    later_command_int(cmd, max);
    later_command_seconds(cmd, ttl);
    later_command_text(cmd, waiter);
}

bool later_permit_taken(const struct later_reply *reply, int64_t *behind)
{
    size_t len;
    const char *text = later_reply_text(reply, &len), *count = strchr(text, ' ');

    *behind = count ? strtoll(count, NULL, 10) : -1;
    return len == 0;
}

void later_permit_touch(struct later_command *cmd, const char *prefix, const char *name, double ttl,
                        const char *const *tokens, size_t count)
{
    permit_begin(cmd, LATER_SCRIPT_PERMIT_TOUCH, prefix, name, count);
    later_command_seconds(cmd, ttl);
    later_command_texts(cmd, tokens, count);
}

void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token)
{
    permit_begin(cmd, LATER_SCRIPT_PERMIT_FREE, prefix, name, 1);
    later_command_text(cmd, token);
}
