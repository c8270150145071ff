/* moment.c: reads times as people write them. */
#include "moment.h"

#include "cron/instant.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { TODAY = -1, TOMORROW = -2 }; /* other values are days of the week; Sunday is 0 */

static const struct {
    const char *name;
    int day;
} days[] = {
    { "today", TODAY }, { "tomorrow", TOMORROW },
    { "sunday", 0 },    { "sun", 0 },
    { "monday", 1 },    { "mon", 1 },
    { "tuesday", 2 },   { "tue", 2 },
    { "wednesday", 3 }, { "wed", 3 },
    { "thursday", 4 },  { "thu", 4 },
    { "friday", 5 },    { "fri", 5 },
    { "saturday", 6 },  { "sat", 6 },
};

/* The state of reading one word. */
struct moment {
    const char *word, *what;
    time_t now;
    struct tm tm;
};

static int moment_refuse(const struct moment *moment, const char *why, struct later_error *err)
{
    return later_fail(err, LATER_E_USAGE, "%s: %.40s %s", moment->what, moment->word, why);
}

static int refuse_form(const struct moment *moment, struct later_error *err)
{
    return moment_refuse(
        moment,
        "is not a time: write UNIX seconds, 2026-01-31T12:00:00Z, \"2026-01-31 9:00\", "
        "\"tomorrow 9:00\", \"mon 9:00\" or 9:00",
        err);
}

/* glibc takes an unknown zone for UTC, so it must be checked. */
static int check_zone(const struct moment *moment, struct later_error *err)
{
    const char *zone = getenv("TZ"), *folder = getenv("TZDIR");
    char path[512];

    if (!zone || !*zone || *zone == ':' || *zone == '/' || strpbrk(zone, "0123456789") ||
        strcmp(zone, "UTC") == 0 || strcmp(zone, "GMT") == 0)
        return 0;
    snprintf(path, sizeof path, "%s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", zone);
    if (access(path, R_OK) == 0)
        return 0;
    return later_fail(err, LATER_E_USAGE, "%s: TZ is %.40s, a zone that this host does not know",
                      moment->what, zone);
}

/* Reads one or two digits. */
static bool read_pair(const char **p, int max, int *number)
{
    size_t len = strspn(*p, "0123456789");

    if (len < 1 || len > 2)
        return false;
    *number = (int)strtol(*p, NULL, 10);
    *p += len;
    return *number <= max;
}

/* Reads a whole `9:00` or `9:00:30`. */
static bool read_clock(const char *p, struct tm *tm)
{
    tm->tm_sec = 0;
    if (!read_pair(&p, 23, &tm->tm_hour) || *p++ != ':' || strspn(p, "0123456789") != 2 ||
        !read_pair(&p, 59, &tm->tm_min))
        return false;
    if (*p == ':')
        return strspn(++p, "0123456789") == 2 && read_pair(&p, 59, &tm->tm_sec) && !*p;
    return !*p;
}

/* Returns the instant of a local time, or -1 if the clocks never show it. */
static time_t instant(const struct tm *wanted)
{
    time_t first = -1;

    for (int summer = 1; summer >= 0; summer--) {
        struct tm tm = *wanted;
        time_t at;

        tm.tm_isdst = summer;
        at = mktime(&tm);
        if (tm.tm_hour == wanted->tm_hour && tm.tm_min == wanted->tm_min &&
            tm.tm_mday == wanted->tm_mday && (first < 0 || at < first))
            first = at;
    }
    return first;
}

/* Moves the local date on by some days. */
static void moment_go_on(struct tm *tm, int count)
{
    struct tm noon = { .tm_year = tm->tm_year,
                       .tm_mon = tm->tm_mon,
                       .tm_mday = tm->tm_mday + count,
                       .tm_hour = 12,
                       .tm_isdst = -1 };

    mktime(&noon);
    tm->tm_year = noon.tm_year;
    tm->tm_mon = noon.tm_mon;
    tm->tm_mday = noon.tm_mday;
}

static int moment_finish(const struct moment *moment, double *unix_seconds, struct later_error *err)
{
    time_t at = instant(&moment->tm);

    if (at < 0)
        return moment_refuse(moment, "is a time that the clocks skip when they are put forward",
                             err);
    *unix_seconds = (double)at;
    return 0;
}

/* Finds the next of the days, `step` apart, on which that time is still to come. */
static int finish_next(struct moment *moment, int step, double *unix_seconds,
                       struct later_error *err)
{
    time_t at = instant(&moment->tm);

    if (at >= 0 && at <= moment->now)
        moment_go_on(&moment->tm, step);
    return moment_finish(moment, unix_seconds, err);
}

/* Reads `today 9:00`: the name of a day, a space, a time. */
static int read_day(struct moment *moment, int day, const char *clock, double *unix_seconds,
                    struct later_error *err)
{
    int today = moment->tm.tm_wday;

    if (!read_clock(clock, &moment->tm))
        return refuse_form(moment, err);
    if (day >= 0) {
        moment_go_on(&moment->tm, (day - today + 7) % 7);
        return finish_next(moment, 7, unix_seconds, err);
    }
    if (day == TOMORROW)
        moment_go_on(&moment->tm, 1);
    if (moment_finish(moment, unix_seconds, err) < 0)
        return -1;
    return *unix_seconds > (double)moment->now ? 0 : moment_refuse(moment, "has passed", err);
}

/* `2026-01-31`, `2026-01-31 9:00`. */
static int read_date(struct moment *moment, double *unix_seconds, struct later_error *err)
{
    struct tm *tm = &moment->tm, there;
    const char *word = moment->word;

    tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
    if (strlen(word) < 10 || strspn(word, "0123456789") != 4 || word[4] != '-' || word[7] != '-' ||
        strspn(word + 5, "0123456789") != 2 || strspn(word + 8, "0123456789") != 2 ||
        (word[10] && ((word[10] != ' ' && word[10] != 'T') || !read_clock(word + 11, tm))))
        return refuse_form(moment, err);
    tm->tm_year = (int)strtol(word, NULL, 10) - 1900;
    tm->tm_mon = (int)strtol(word + 5, NULL, 10) - 1;
    tm->tm_mday = (int)strtol(word + 8, NULL, 10);
    there = *tm;
    moment_go_on(&there, 0);
    if (tm->tm_year < 70 || there.tm_mon != tm->tm_mon || there.tm_mday != tm->tm_mday)
        return moment_refuse(moment, "is not a date", err);
    return moment_finish(moment, unix_seconds, err);
}

int moment_read(const char *word, const char *what, time_t now, double *unix_seconds,
                struct later_error *err)
{
    struct moment moment = { .word = word, .what = what, .now = now };
    size_t len = strcspn(word, " ");
    struct later_error ignored;

    if (strcspn(word, "0123456789:-") == strlen(word) && !strchr(word, ' '))
        return refuse_form(&moment, err); /* the name of a day without a time */
    if (strspn(word, "0123456789.") == strlen(word))
        return later_instant_read(word, what, unix_seconds, err);
    if (later_instant_read(word, what, unix_seconds, &ignored) == 0)
        return 0;
    tzset();
    if (check_zone(&moment, err) < 0)
        return -1;
    if (!localtime_r(&now, &moment.tm))
        return moment_refuse(&moment, "cannot be read, since this host cannot tell its local time",
                             err);
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        if (strlen(days[i].name) == len && strncasecmp(word, days[i].name, len) == 0)
            return read_day(&moment, days[i].day, word + len + (word[len] == ' '), unix_seconds,
                            err);
    }
    if (read_clock(word, &moment.tm))
        return finish_next(&moment, 1, unix_seconds, err);
    return read_date(&moment, unix_seconds, err);
}
