/* zone_rule.c: the rule after a zone's last change. */
#include "cron/zone_rule.h"

#include "cron/calendar.h"

#include <string.h>

#define YEARS 3 /* years to look at: that of the instant and its neighbours */

struct reader {
    const char *at, *end;
};

static bool zone_rule_take(struct reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool zone_rule_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Skips a name: at least three letters, or anything in <>. */
static bool zone_rule_take_name(struct reader *reader)
{
    const char *from = reader->at;

    if (zone_rule_take(reader, '<')) {
        while (reader->at < reader->end && *reader->at != '>')
            reader->at++;
        return zone_rule_take(reader, '>');
    }
    while (reader->at < reader->end && zone_rule_is_letter(*reader->at))
        reader->at++;
    return reader->at - from >= 3;
}

static bool zone_rule_take_number(struct reader *reader, int max, int *number)
{
    const char *from = reader->at;

    *number = 0;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9' && *number <= max)
        *number = *number * 10 + (*reader->at++ - '0');
    return reader->at > from && *number <= max;
}

/* [+-]HH[:MM[:SS]] */
static bool take_time(struct reader *reader, int max_hours, int32_t *seconds)
{
    bool minus = zone_rule_take(reader, '-');
    int hours, minutes = 0, rest = 0;

    if (!minus)
        zone_rule_take(reader, '+');
    if (!zone_rule_take_number(reader, max_hours, &hours))
        return false;
    if (zone_rule_take(reader, ':')) {
        if (!zone_rule_take_number(reader, 59, &minutes))
            return false;
        if (zone_rule_take(reader, ':') && !zone_rule_take_number(reader, 59, &rest))
            return false;
    }
    *seconds = hours * 3600 + minutes * 60 + rest;
    if (minus)
        *seconds = -*seconds;
    return true;
}

/* POSIX counts west of Greenwich. */
static bool take_offset(struct reader *reader, int32_t *offset)
{
    if (!take_time(reader, 24, offset))
        return false;
    *offset = -*offset;
    return true;
}

static bool take_day(struct reader *reader, struct zone_day *day)
{
    bool ok;

    *day = (struct zone_day){ .form = '0', .time = 2 * 3600 };
    if (zone_rule_take(reader, 'M')) {
        day->form = 'M';
        ok = zone_rule_take_number(reader, 12, &day->month) && zone_rule_take(reader, '.') &&
             zone_rule_take_number(reader, 5, &day->week) && zone_rule_take(reader, '.') &&
             zone_rule_take_number(reader, 6, &day->day) && day->month > 0 && day->week > 0;
    } else if (zone_rule_take(reader, 'J')) {
        day->form = 'J';
        ok = zone_rule_take_number(reader, 365, &day->day) && day->day > 0;
    } else {
        ok = zone_rule_take_number(reader, 365, &day->day);
    }
    return ok && (!zone_rule_take(reader, '/') || take_time(reader, 167, &day->time));
}

bool zone_rule_read(struct zone_rule *rule, const char *text, size_t len)
{
    struct reader reader = { text, text + len };

    *rule = (struct zone_rule){ .there = len > 0 };
    if (len == 0)
        return true;
    if (!zone_rule_take_name(&reader) || !take_offset(&reader, &rule->offset))
        return false;
    if (reader.at == reader.end)
        return true;
    rule->saving = true;
    rule->other = rule->offset + 3600;
    if (!zone_rule_take_name(&reader))
        return false;
    if (reader.at < reader.end && *reader.at != ',' && !take_offset(&reader, &rule->other))
        return false;
    return zone_rule_take(&reader, ',') && take_day(&reader, &rule->begin) &&
           zone_rule_take(&reader, ',') && take_day(&reader, &rule->end) && reader.at == reader.end;
}

/* Returns the instant of a change in a year; offset: of the clock until then. */
static int64_t zone_rule_change(const struct zone_day *day, int64_t year, int32_t offset)
{
    int64_t days = later_days(year, 1, 1);

    if (day->form == 'M') {
        int last = later_month_days(year, day->month), date;

        days = later_days(year, day->month, 1);
        date = (day->day - later_weekday(days) + 7) % 7 + (day->week - 1) * 7;
        days += date < last ? date : date - 7;
    } else if (day->form == 'J') {
        days += day->day - 1 + (later_month_days(year, 2) == 29 && day->day > 59);
    } else {
        days += day->day;
    }
    return days * LATER_DAY + day->time - offset;
}

/* Changes are noted in order, since of two at one instant the later one counts. If daylight saving
 * lasts for ever, its end and its beginning in the next year are at one instant. */
static void zone_rule_note(struct later_zone_span *span, int64_t at, int64_t change, int32_t offset)
{
    if (change <= at && change >= span->from) {
        span->from = change;
        span->offset = offset;
    } else if (change > at && change < span->to) {
        span->to = change;
    }
}

struct later_zone_span zone_rule_at(const struct zone_rule *rule, int64_t at)
{
    struct later_zone_span span = { INT64_MIN, INT64_MAX, rule->offset };
    int64_t year = later_date(later_day_of(at)).year - 1;

    for (int i = 0; rule->saving && i < YEARS; i++) {
        int64_t begin = zone_rule_change(&rule->begin, year + i, rule->offset);
        int64_t end = zone_rule_change(&rule->end, year + i, rule->other);

        if (begin < end)
            zone_rule_note(&span, at, begin, rule->other);
        zone_rule_note(&span, at, end, rule->offset);
        if (begin >= end)
            zone_rule_note(&span, at, begin, rule->other);
    }
    return span;
}
