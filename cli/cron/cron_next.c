/* cron_next.c: `later cron next`. */
#include "cron/calendar.h"
#include "cron/cron.h"
#include "cron/instant.h"
#include "output/jsonl.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT_MAX 10000

/* Writes 2026-03-29T03:00:00+02:00, for people with the weekday before it. */
static void put_local(char *out, size_t room, int64_t at, int32_t offset, bool weekday)
{
    static const char *const names[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    struct later_date date = later_date(later_day_of(at + offset));
    int time = (int)(at + offset - later_day_of(at + offset) * LATER_DAY), east = abs(offset) / 60;

    snprintf(out, room, "%s%s%04" PRId64 "-%02d-%02dT%02d:%02d:%02d%c%02d:%02d",
             weekday ? names[later_weekday(later_day_of(at + offset))] : "", weekday ? " " : "",
             date.year, date.month, date.day, time / 3600, time / 60 % 60, time % 60,
             offset < 0 ? '-' : '+', east / 60, east % 60);
}

static void cron_next_tell_json(int64_t tick, int32_t offset, const char *zone)
{
    char local[64], utc[32];

    put_local(local, sizeof local, tick, offset, false);
    jsonl_line(stdout, "tick:%jd utc:%s local:%s zone:%s", tick,
               text_put_time(utc, sizeof utc, (double)tick), local, zone);
}

static void cron_next_tell_row(struct table *table, int64_t tick, int32_t offset)
{
    char text[64];

    put_local(text, sizeof text, tick, offset, true);
    table_text(table, PLAIN, text);
    table_time(table, PLAIN, (double)tick);
    table_number(table, PLAIN, (uint64_t)tick);
}

static void cron_next_tell(const struct cli *cli, const struct later_schedule *schedule,
                           const struct later_zone *zone, int64_t from, int64_t count)
{
    static const char *const headings[] = { "LOCAL", "UTC", ">TICK", NULL };
    struct table table;
    int64_t tick = from;

    cli_table(cli, &table, headings);
    for (int64_t i = 0; i < count && later_schedule_next(schedule, zone, tick, &tick); i++) {
        int32_t offset = later_zone_at(zone, tick).offset;

        if (cli->json)
            cron_next_tell_json(tick, offset, later_schedule_zone(schedule));
        else
            cron_next_tell_row(&table, tick, offset);
    }
    table_end(&table);
}

/* An expression has a space or begins with @. Any other word is a name. *count: lowered to what its
 * limit leaves. */
static int take_expression(struct cli *cli, const char *word, struct later_schedule *schedule,
                           struct later_zone **zone, int64_t *count, struct later_error *err)
{
    struct cron_found found;
    int64_t left;

    if (strpbrk(word, " \t@")) {
        if (later_schedule_set(schedule, word, args_text(&cli->args, "zone"), err) < 0)
            return -1;
        *zone = later_zone_open(later_schedule_zone(schedule), err);
        return *zone ? 0 : -1;
    }
    if (cron_find_zone(cli, word, &found, zone, err) < 0)
        return -1;
    *schedule = found.schedule;
    left = (int64_t)schedule->limit - cron_count_of(found.state, "fired");
    if (schedule->limit > 0 && left < *count)
        *count = left;
    return 0;
}

int cron_next(struct cli *cli, char **words, struct later_error *err)
{
    const char *from = args_text(&cli->args, "from");
    struct later_schedule schedule = { .late = 0 };
    struct later_zone *zone;
    double after = (double)time(NULL);
    int64_t number = 5;

    if (cli_number(cli, "number", 1, COUNT_MAX, &number, err) < 0 ||
        (from && later_instant_read(from, "--from", &after, err) < 0) ||
        take_expression(cli, words[0], &schedule, &zone, &number, err) < 0)
        return -1;
    cron_next_tell(cli, &schedule, zone, (int64_t)after, number);
    later_zone_free(zone);
    return LATER_OK;
}
