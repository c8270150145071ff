/*
 * test_tick.c: what expressions mean, even where clocks are changed, compared with a minute by
 * minute simulation of a cron daemon with the C library's clocks; and what is refused.
 */
#include "cron/calendar.h"
#include "cron/tick.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define QUARTER                                                                                    \
    900 /* seconds; in these zones and years clocks are changed at quarters of an hour */

static struct later_zone *open_zone(const char *name)
{
    struct later_error err = { 0 };
    struct later_zone *zone = later_zone_open(name, &err);

    ck_assert_msg(zone != NULL, "%s: %s", name, err.text);
    return zone;
}

static struct later_expression read_expression(const char *text)
{
    struct later_error err = { 0 };
    struct later_expression expr;

    ck_assert_msg(later_expression_read(&expr, text, &err) == 0, "%s: %s", text, err.text);
    return expr;
}

/* --- against a simulation --- */

/* What clocks show, as the predicates below need it. */
struct shown {
    int minute, hour, day, weekday, of_month;
};

static bool half_past_two(const struct shown *s)
{
    return s->hour == 2 && s->minute == 30;
}
static bool midnight(const struct shown *s)
{
    return s->hour == 0 && s->minute == 0;
}
static bool past_one(const struct shown *s)
{
    return s->hour == 1 && s->minute % 10 == 5;
}
static bool hourly(const struct shown *s)
{
    return s->minute == 0;
}
static bool at_two(const struct shown *s)
{
    return s->hour == 2;
}
static bool few_hours(const struct shown *s)
{
    return s->hour >= 1 && s->hour <= 3 && s->minute % 20 == 0;
}
static bool last_sunday(const struct shown *s)
{
    return s->weekday == 0 && s->day > s->of_month - 7 && s->hour == 2 && s->minute == 15;
}
static bool day_or_weekday(const struct shown *s)
{
    return (s->day == 13 || s->weekday == 5) && s->hour == 23 && s->minute == 59;
}
static bool day_and_weekday(const struct shown *s)
{
    return s->day % 2 == 1 && s->weekday == 0 && s->hour == 1 && s->minute == 59;
}

static const struct row {
    const char *text;
    bool (*holds)(const struct shown *shown);
    bool elapsed;
} rows[] = {
    { "30 2 * * *", half_past_two, false },
    { "0 0 * * *", midnight, false },
    { "5/10 1 * * *", past_one, false },
    { "0 * * * *", hourly, true },
    { "* 2 * * *", at_two, true },
    { "0-59 2 * * *", at_two, false },
    { "*/20 1-3 * * *", few_hours, true },
    { "15 2 * * sunL", last_sunday, false },
    { "59 23 13 * fri", day_or_weekday, false },
    { "59 1 */2 * sun", day_and_weekday, false },
};
#define ROWS (sizeof rows / sizeof *rows)

struct simulation {
    const char *name;
    const struct later_zone *zone;
    struct later_expression exprs[ROWS];
    int64_t next[ROWS];
    int64_t until; /* clocks have shown every minute up to here, counted from 1970 */
};

static struct shown show(int64_t minute)
{
    static struct shown shown;
    static int64_t day = -1; /* that of the last call: most are of the same */

    if (minute / (LATER_DAY / 60) != day) {
        struct later_date date;

        day = minute / (LATER_DAY / 60);
        date = later_date(day);
        shown = (struct shown){ .day = date.day,
                                .weekday = later_weekday(day),
                                .of_month = later_month_days(date.year, date.month) };
    }
    shown.minute = (int)(minute % 60);
    shown.hour = (int)(minute / 60 % 24);
    return shown;
}

/* No assertion where all is right: each costs Check a system call. */
static void expect_tick(struct simulation *sim, size_t i, int64_t at)
{
    if (sim->next[i] != at || !later_tick_next(&sim->exprs[i], sim->zone, at, &sim->next[i]))
        ck_abort_msg("%s in %s: %" PRId64 ", not %" PRId64, rows[i].text, sim->name, sim->next[i],
                     at);
}

/* Minutes at which no row can be due, nor at what leads to them. A tick in one of them would be
 * missed, and the next one be not the expected. */
static bool quiet(const struct shown *s)
{
    return s->hour > 4 && s->hour < 23 && s->minute != 0;
}

/* A minute of a cron daemon: what has a star looks at the clock, the others at all that clocks have
 * shown or leapt over since the last minute, and at nothing twice. */
static void simulate_minute(struct simulation *sim, int64_t at, int64_t minute)
{
    struct shown now = show(minute);
    int64_t from = minute - sim->until > 3 * 60 + 1 ? minute : sim->until + 1;

    for (size_t i = 0; i < ROWS && !(from == minute && quiet(&now)); i++) {
        bool due = (rows[i].elapsed || from <= minute) && rows[i].holds(&now);

        for (int64_t m = from; !rows[i].elapsed && !due && m < minute; m++) {
            struct shown leapt = show(m);

            due = rows[i].holds(&leapt);
        }
        if (due)
            expect_tick(sim, i, at);
    }
    if (minute > sim->until)
        sim->until = minute;
}

static void simulate(const char *name, int first, int last)
{
    struct simulation sim = { .name = name, .zone = open_zone(name) };
    int64_t from = later_days(first, 1, 1) * LATER_DAY, to = later_days(last, 1, 1) * LATER_DAY;
    long offset = 0;

    setenv("TZ", name, 1);
    tzset();
    for (size_t i = 0; i < ROWS; i++) {
        sim.exprs[i] = read_expression(rows[i].text);
        ck_assert(later_tick_next(&sim.exprs[i], sim.zone, from - 1, &sim.next[i]));
    }
    for (int64_t at = from; at < to; at += 60) {
        if (at % QUARTER == 0) {
            time_t t = (time_t)at;
            struct tm tm;

            localtime_r(&t, &tm);
            offset = tm.tm_gmtoff;
        }
        if (at == from)
            sim.until = (at + offset) / 60 - 1;
        simulate_minute(&sim, at, (at + offset) / 60);
    }
    later_zone_free((struct later_zone *)sim.zone);
}

static const char *const zones[] = { "Europe/Berlin",    "America/New_York", "Australia/Lord_Howe",
                                     "Antarctica/Troll", "America/Santiago", "Pacific/Apia" };

TEST_EACH(test_twenty_years, COUNT(zones))
{
    simulate(zones[_i], unit_stride(20) > 1 ? 2029 : 2010, 2030); /* all, or the last one */
}

/* Where only the rule at the end of a zone's file holds. */
TEST_EACH(test_later_years, COUNT(zones))
{
    if (sizeof(time_t) >= 8) /* else the C library knows no such time */
        simulate(zones[_i], 2060, unit_stride(20) > 1 ? 2061 : 2062);
}

/* --- the rest --- */

/* Exact instants, by hand. */
TEST(test_when_clocks_change)
{
    static const struct {
        const char *text, *zone;
        int64_t after, next;
    } cases[] = {
        { "30 2 * * *", "Europe/Berlin", 1774661400, 1774746000 }, /* 2026-03-29, at 03:00 +2 */
        { "30 2 * * *", "Europe/Berlin", 1774746000, 1774830600 },
        { "30 2 * * *", "Europe/Berlin", 1792801800, 1792888200 }, /* 2026-10-25, 02:30 +2 */
        { "30 2 * * *", "Europe/Berlin", 1792888200, 1792978200 }, /* not 02:30 +1 */
        { "30 * * * *", "Europe/Berlin", 1792888200, 1792891800 },
        { "@every 90s", "Europe/Berlin", 1792888200, 1792888290 },
        { "0 0 29 2 *", "UTC", 3981312000, 4233686400 }, /* 2096-02-29, then 2104: 2100 has none */
        { "30 2,3 * * *", "Europe/Berlin", 1774665000, 1774746000 },
        { "30 2,3 * * *", "Europe/Berlin", 1774746000, 1774747800 },
        { "0 3 * * *", "Pacific/Apia", 1325163600, 1325250000 }, /* no 2011-12-30 there */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct later_expression expr = read_expression(cases[i].text);
        struct later_zone *zone = open_zone(cases[i].zone);
        int64_t tick;

        ck_assert(later_tick_next(&expr, zone, cases[i].after, &tick));
        ck_assert_msg(tick == cases[i].next, "%s: %" PRId64 " after %" PRId64, cases[i].text, tick,
                      cases[i].after);
        later_zone_free(zone);
    }
}

TEST(test_rare)
{
    struct later_expression expr = read_expression("0 0 29 2 mon#5");
    struct later_zone *utc = open_zone("UTC");
    int64_t tick = later_days(2072, 3, 1) * LATER_DAY;

    expr.either = false; /* 29 February on a Monday: 2072, then 2112 */
    ck_assert(later_tick_next(&expr, utc, tick, &tick));
    ck_assert_int_eq(tick, later_days(2112, 2, 29) * LATER_DAY);
    later_zone_free(utc);
}

TEST(test_what_was_missed)
{
    struct later_expression second = read_expression("* * * * * *");
    struct later_expression hourly_one = read_expression("0 * * * *");
    struct later_expression first = read_expression("* * 1 * *");
    struct later_zone *utc = open_zone("UTC");
    int64_t from = 1767225600, year = from + 365 * LATER_DAY, tick; /* 2026-01-01 */

    ck_assert(later_tick_last(&second, utc, from, year, &tick));
    ck_assert_int_eq(tick, year);
    ck_assert(later_tick_last(&hourly_one, utc, from, from + 5400, &tick));
    ck_assert_int_eq(tick, from + 3600);
    ck_assert(!later_tick_last(&hourly_one, utc, from, from + 3599, &tick));
    ck_assert(later_tick_last(&first, utc, from, from + 30 * LATER_DAY, &tick));
    ck_assert_int_eq(tick, from + LATER_DAY - 60);
    ck_assert_uint_eq(later_tick_count(&second, utc, from, year, 10000), 10000);
    ck_assert_uint_eq(later_tick_count(&hourly_one, utc, from, from + LATER_DAY, 10000), 24);
    ck_assert_int_eq(later_tick_after(&second, utc, from, year, 100), year - 100);
    ck_assert_int_eq(later_tick_after(&hourly_one, utc, from, from + LATER_DAY, 100), from);
    ck_assert_int_eq(later_tick_after(&hourly_one, utc, from, from + LATER_DAY, 3),
                     from + 21 * 3600);
    later_zone_free(utc);
}

TEST(test_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "0 25 * * *", "hour: 25 is not in 0-23 (character 3 of `0 25 * * *`)" },
        { "0 0 30 2 *", "no year has such a day (character 1 of `0 0 30 2 *`)" },
        { "", "five fields" },
        { "   ", "five fields" },
        { "* * * *", "five fields" },
        { "* * * * * * *", "five fields" },
        { "@reboot", "push the job when the host starts" },
        { "@fortnightly", "@every TIME" },
        { "@daily 5", "alone" },
        { "@every", "90s" },
        { "@every 0", "90s" },
        { "@every 1.5", "90s" },
        { "@every 366d", "90s" },
        { "@every 99999999999999999999", "90s" },
        { "@every 10s 5", "90s" },
        { "TZ= 0 0 * * *", "time zone" },
        { "0 0 * * L", "neither a number nor a name (character 9" },
        { "0 0 * * mon#6", "1 to 5" },
        { "0 0 L-31 * *", "0 to 30" },
        { "*/60 * * * *", "a step is 1 to 59 (character 3" },
        { "0 */24 * * *", "a step is 1 to 23" },
        { "1,,2 * * * *", "character 3" },
        { "1, * * * *", "something is missing" },
        { "5-/2 * * * *", "neither" },
        { "999999999999 * * * *", "is not in 0-59" },
        { "0 0 * janu *", "neither a number nor a name" },
        { "H * * * *", "neither a number nor a name" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct later_expression expr;
        struct later_error err = { 0 };

        ck_assert_msg(later_expression_read(&expr, cases[i].text, &err) < 0, "taken: %s",
                      cases[i].text);
        ck_assert_int_eq(err.code, LATER_E_DATA);
        ck_assert_msg(strstr(err.text, cases[i].why) != NULL, "%s: %s", cases[i].text, err.text);
    }
}

TEST(test_too_long)
{
    char text[LATER_EXPRESSION_MAX + 2];
    struct later_expression expr;
    struct later_error err;

    memset(text, ' ', sizeof text);
    memcpy(text, "* * * * *", 9);
    text[LATER_EXPRESSION_MAX] = '\0';
    ck_assert_int_eq(later_expression_read(&expr, text, &err), 0);
    text[LATER_EXPRESSION_MAX] = ' ';
    text[LATER_EXPRESSION_MAX + 1] = '\0';
    ck_assert_int_eq(later_expression_read(&expr, text, &err), -1);
}
