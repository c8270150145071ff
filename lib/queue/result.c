/* result.c: encodes and decodes the calls for a job's result. */
#include "queue/result.h"

#include "job/json.h"
#include "job/record.h"
#include "redis/script.h"

#include <string.h>

void later_result_ask(struct later_command *cmd, const struct later_keys *keys, const char *id)
{
    char result[LATER_KEY_MAX];

    later_key_result(result, keys, id);
    LATER_SCRIPT_BEGIN(cmd, LATER_SCRIPT_RESULT, keys, 0, result);
    later_command_text(cmd, id);
}

void later_result_asked(const struct later_reply *reply, struct later_left *left)
{
    size_t len;
    const char *text = later_reply_text(later_reply_at(reply, 2), &len);
    struct later_record record;

    left->state = later_reply_text(later_reply_at(reply, 0), NULL);
    left->element = later_reply_text(later_reply_at(reply, 1), &left->element_len);
    later_record_read(&record, text, len);
    left->error = record.error;
    left->error_len = record.error_len;
    left->attempts = record.attempts;
    left->followed = record.next_len > 0;
}

void later_result_await(struct later_command *cmd, const struct later_keys *keys, const char *id,
                        double seconds)
{
    char result[LATER_KEY_MAX];

    later_key_result(result, keys, id);
    later_command_say(cmd, "BLMOVE %s %s LEFT LEFT %f", result, result, seconds);
}

void later_result_forget(struct later_command *cmd, const struct later_keys *keys, const char *id,
                         const char *element, size_t len)
{
    char result[LATER_KEY_MAX];

    later_key_result(result, keys, id);
    later_command_open(cmd, 1, "LREM %s 1", result);
    later_command_bytes(cmd, element, len);
}

bool later_result_read(struct later_result_seen *seen, const char *element, size_t len)
{
    struct later_json_member head[] = {
        { .name = "state" }, { .name = "attempt" }, { .name = "at" }, { .name = "again" }
    };
    const char *end = len > 0 ? memchr(element, '\n', len) : NULL;
    struct later_error ignored;

    if (!end || later_json_scan(element, (size_t)(end - element), head, 4, &ignored) < 0 ||
        !head[0].value || !head[1].value || !head[2].value)
        return false;
    *seen = (struct later_result_seen){ .dead = strncmp(head[0].value, "\"dead\"", 6) == 0,
                                        .again = head[3].value != NULL,
                                        .value = end + 1,
                                        .value_len = len - (size_t)(end + 1 - element) };
    if (!strchr("-0123456789", *head[1].value) || !strchr("-0123456789", *head[2].value))
        return false;
    seen->attempt = (uint32_t)later_json_double(head[1].value);
    seen->at = later_json_double(head[2].value);
    return true;
}
