/* looker.c: encodes and decodes the call of a host that would look. */
#include "queue/looker.h"

#include "redis/script.h"

void later_looker_ask(struct later_command *cmd, const char *prefix, const char *name,
                      const char *host, double seconds)
{
    char key[LATER_KEY_MAX];

    later_key_lookers(key, prefix, name);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_LOOKER, NULL, 0, key);
    later_command_text(cmd, host);
    later_command_seconds(cmd, seconds);
    later_command_int(cmd, LATER_LOOKERS);
}

void later_looker_told(const struct later_reply *reply, struct later_looker *looker)
{
    looker->looks = later_reply_int(later_reply_at(reply, 0)) == 1;
    looker->now = later_reply_seconds(later_reply_at(reply, 1), 0);
    looker->others = (uint32_t)later_reply_int(later_reply_at(reply, 2));
}
