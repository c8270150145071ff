/* permit.c: encodes and decodes the calls of permits. */
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
    later_command_texts(cmd, tokens, count);
}

void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *const *tokens, size_t count)
{
    begin(cmd, LATER_SCRIPT_PERMIT_FREE, prefix, name, count);
    later_command_texts(cmd, tokens, count);
}

void later_permit_line(struct later_command *cmd, const char *prefix, bool lock, const char *name,
                       uint32_t max, double wait, const char *waiter)
{
    char holder[LATER_KEY_MAX], wake[LATER_KEY_MAX], waiting[LATER_KEY_MAX];

    later_key_waiting(waiting, prefix, lock, name);
    if (lock) {
        later_key_lock(holder, prefix, name, LATER_LOCK_ITSELF);
        later_key_lock(wake, prefix, name, LATER_LOCK_WAKE);
        later_script_begin(cmd, LATER_SCRIPT_LOCK_LINE, NULL,
                           (const char *const[]){ holder, wake, waiting }, 0);
    } else {
        later_key_running(holder, prefix, name);
        later_script_begin(cmd, LATER_SCRIPT_PERMIT_LINE, NULL,
                           (const char *const[]){ holder, waiting }, 0);
        later_command_int(cmd, max);
    }
    later_command_seconds(cmd, wait);
    later_command_text(cmd, waiter);
}

size_t later_permit_waiting(const struct later_reply *reply)
{
    return (size_t)later_reply_int(later_reply_at(reply, 0));
}

size_t later_permit_called(const struct later_reply *reply)
{
    return later_reply_count(reply) / 2;
}

const char *later_permit_next(const struct later_reply *reply, size_t i, double *due)
{
    *due = later_reply_seconds(later_reply_at(reply, 2 * i + 2), 0);
    return later_reply_text(later_reply_at(reply, 2 * i + 1), NULL);
}

void later_permit_hasten(struct later_command *cmd, const struct later_keys *keys, double due,
                         const char *id)
{
    later_script_begin(cmd, LATER_SCRIPT_HASTEN, keys, NULL, 0);
    later_command_seconds(cmd, due);
    later_command_text(cmd, id);
}
