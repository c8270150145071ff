/* crontab.c: the schedules of a queue in Redis. */
#include "queue/crontab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW 5 /* elements */

void later_crontab_look(struct later_command *cmd, const struct later_keys *keys, const char *from,
                        size_t limit)
{
    later_script_begin(cmd, LATER_SCRIPT_CRON_LOOK, keys, NULL, 0);
    later_command_text(cmd, from);
    later_command_int(cmd, (int64_t)limit);
}

void later_crontab_looked(const struct later_reply *reply, struct later_crontab *crontab)
{
    size_t count = later_reply_count(reply);

    crontab->now = later_reply_seconds(later_reply_at(reply, 0), 0);
    crontab->next = later_reply_seconds(later_reply_at(reply, 1), -1);
    crontab->count = count > 2 ? (count - 2) / ROW : 0;
}

static const char *text_at(const struct later_reply *reply, size_t i)
{
    return later_reply_text(later_reply_at(reply, i), NULL);
}

void later_crontab_row(const struct later_reply *reply, size_t i, struct later_crontab_row *row)
{
    size_t at = 2 + ROW * i;

    *row = (struct later_crontab_row){ .name = text_at(reply, at),
                                       .next = later_reply_seconds(later_reply_at(reply, at + 1),
                                                                   INFINITY),
                                       .digest = text_at(reply, at + 2),
                                       .lines = text_at(reply, at + 3),
                                       .state = text_at(reply, at + 4) };
}

bool later_crontab_asks(const struct later_crontab_row *row)
{
    char asked[32];

    return strtod(later_schedule_value(row->state, "asked", asked, sizeof asked), NULL) ==
           row->next;
}

/* Adds a time; '' if it is less than 0. */
static void crontab_add_time(struct later_command *cmd, int64_t at)
{
    if (at < 0)
        later_command_text(cmd, "");
    else
        later_command_int(cmd, at);
}

void later_crontab_put(struct later_command *cmd, const struct later_keys *keys, const char *name,
                       const char *definition, size_t len, int64_t next, const char *origin)
{
    later_script_begin(cmd, LATER_SCRIPT_CRON_PUT, keys, NULL, 0);
    later_command_text(cmd, name);
    later_command_bytes(cmd, definition, len);
    crontab_add_time(cmd, next);
    later_command_text(cmd, origin);
}

enum later_put later_crontab_was_put(const struct later_reply *reply)
{
    const char *text = text_at(reply, 0);

    if (strcmp(text, "AGAIN") == 0)
        return LATER_CRON_AGAIN;
    return strcmp(text, "SAME") == 0 ? LATER_CRON_SAME : LATER_CRON_PUT;
}

int64_t later_crontab_first(const struct later_schedule *schedule, const struct later_zone *zone,
                            const char *state, double now)
{
    char text[32];
    int64_t fired = strtoll(later_schedule_value(state, "fired", text, sizeof text), NULL, 10);
    int64_t last = strtoll(later_schedule_value(state, "tick", text, sizeof text), NULL, 10);
    int64_t after = last > (int64_t)now ? last : (int64_t)now, tick;

    if (schedule->limit > 0 && fired >= schedule->limit)
        return -1;
    return later_schedule_next(schedule, zone, after, &tick) ? tick : -1;
}

void later_crontab_move(struct later_command *cmd, const struct later_keys *keys,
                        enum later_move what, const char *const *names, const char *with,
                        size_t count)
{
    static const char *const words[] = { "pause", "resume", "drop", "seen" };

    later_script_begin(cmd, LATER_SCRIPT_CRON_MOVE, keys, NULL, count);
    later_command_text(cmd, words[what]);
    for (size_t i = 0; i < count; i++) {
        later_command_text(cmd, names[i]);
        later_command_text(cmd, with ? with : "");
    }
}

void later_crontab_fire(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_crontab_row *row, const struct later_firing *firing)
{
    static const struct later_firing held = { 0 };
    bool known = firing != NULL;

    firing = known ? firing : &held;
    later_script_begin(cmd, LATER_SCRIPT_CRON_FIRE, keys, NULL, 0);
    later_command_text(cmd, row->name);
    later_command_int(cmd, (int64_t)row->next);
    later_command_text(cmd, row->digest);
    crontab_add_time(cmd, firing->push ? firing->tick : -1);
    if (known)
        crontab_add_time(cmd, firing->more ? firing->next : -1);
    else
        later_command_text(cmd, "?");
    later_command_int(cmd, firing->missed);
    later_command_int(cmd, firing->delay);
}

/* With all others there is no job. */
static enum later_fired_as crontab_fired_as(const char *outcome)
{
    static const struct {
        const char *outcome;
        enum later_fired_as as;
    } rows[] = { { "FIRED", LATER_FIRED_JOB },
                 { "MOVED", LATER_FIRED_MOVED },
                 { "PLACED", LATER_FIRED_NONE },
                 { "HELD", LATER_FIRED_NONE } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].outcome, outcome) == 0)
            return rows[i].as;
    }
    return LATER_FIRED_NOT;
}

void later_crontab_fired(const struct later_reply *reply, struct later_fired *fired)
{
    *fired = (struct later_fired){ .outcome = text_at(reply, 0),
                                   .id = text_at(reply, 1),
                                   .now = later_reply_seconds(later_reply_at(reply, 2), 0),
                                   .next = later_reply_seconds(later_reply_at(reply, 3), -1) };
    fired->as = crontab_fired_as(fired->outcome);
}
