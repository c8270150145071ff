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

/* All but the waiter. */
static void permit_take(struct later_command *cmd, const char *const keys[3], const char *token,
                        uint32_t max, double ttl)
{
    later_script_begin(cmd, LATER_SCRIPT_PERMIT_TAKE, NULL, keys, 0);
    later_command_text(cmd, token);
    later_command_int(cmd, max);
    later_command_seconds(cmd, ttl);
}

void later_permit_take(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token, uint32_t max, double ttl, const char *waiter)
{
    char running[LATER_KEY_MAX], waiting[LATER_KEY_MAX], due[LATER_KEY_MAX];

    later_key_running(running, prefix, name);
    later_key_line(waiting, prefix, LATER_LINE_PERMIT, name, false);
    later_key_line(due, prefix, LATER_LINE_PERMIT, name, true);
    permit_take(cmd, (const char *const[]){ running, waiting, due }, token, max, ttl);
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
                       const char *const *tokens, size_t count)
{
    permit_begin(cmd, LATER_SCRIPT_PERMIT_FREE, prefix, name, count);
    later_command_texts(cmd, tokens, count);
}

/* Nobody waits in line for it. */
void later_permit_look(struct later_command *cmd, const char *prefix, const char *set,
                       const char *token, uint32_t max, double ttl)
{
    char lookers[LATER_KEY_MAX], waiting[LATER_KEY_MAX], due[LATER_KEY_MAX];

    later_key_lookers(lookers, prefix, set);
    later_key_line(waiting, prefix, LATER_LINE_PERMIT, set, false);
    later_key_line(due, prefix, LATER_LINE_PERMIT, set, true);
    permit_take(cmd, (const char *const[]){ lookers, waiting, due }, token, max, ttl);
    later_command_text(cmd, "");
}

void later_permit_look_away(struct later_command *cmd, const char *prefix, const char *set,
                            const char *token)
{
    char lookers[LATER_KEY_MAX];

    later_key_lookers(lookers, prefix, set);
    later_script_begin(cmd, LATER_SCRIPT_PERMIT_FREE, NULL, (const char *const[]){ lookers }, 1);
    later_command_text(cmd, token);
}
