/* queue.c: encodes calls for jobs without a reservation: migrate, lapse, and lists of ids. */
#include "queue/queue.h"

/* --- migrate --- */

void later_queue_migrate(struct later_command *cmd, const struct later_keys *keys, size_t limit)
{
    later_script_begin(cmd, LATER_SCRIPT_MIGRATE, keys, NULL, 0);
    later_command_int(cmd, (int64_t)limit);
}

void later_queue_migrated(const struct later_reply *reply, struct later_migrated *migrated)
{
    migrated->promoted = (uint32_t)later_reply_int(later_reply_at(reply, 0));
    migrated->next_due = later_reply_seconds(later_reply_at(reply, 1), -1);
    migrated->next_lapse = later_reply_seconds(later_reply_at(reply, 2), -1);
    migrated->now = later_reply_seconds(later_reply_at(reply, 3), 0);
    migrated->next_tick = later_reply_seconds(later_reply_at(reply, 4), -1);
    migrated->rests = later_reply_int(later_reply_at(reply, 5)) == 0;
    migrated->has_news = later_reply_int(later_reply_at(reply, 5)) >= 2;
    migrated->seeks = later_reply_int(later_reply_at(reply, 5)) == 3;
    migrated->run_out = later_reply_count(reply) > 6 ? later_reply_count(reply) - 6 : 0;
}

const char *later_queue_run_out(const struct later_reply *reply, size_t i)
{
    return later_reply_text(later_reply_at(reply, 6 + i), NULL);
}

void later_queue_lapse(struct later_command *cmd, const struct later_keys *keys, const char *token,
                       double deadline, const char *error)
{
    later_script_begin_held(cmd, LATER_SCRIPT_LAPSE, keys, token, 0);
    if (deadline > 0)
        later_command_seconds(cmd, deadline);
    else
        later_command_bytes(cmd, "0", 1);
    later_command_text(cmd, error);
}

/* --- ids --- */

void later_queue_ids(struct later_command *cmd, enum later_script script,
                     const struct later_keys *keys, const char *const *ids, size_t count)
{
    later_script_begin(cmd, script, keys, NULL, count);
    later_command_texts(cmd, ids, count);
}

void later_queue_cancel(struct later_command *cmd, const struct later_keys *keys, const char *token,
                        const char *const *ids, size_t count)
{
    later_script_begin_held(cmd, LATER_SCRIPT_CANCEL, keys, token, count);
    later_command_texts(cmd, ids, count);
}
