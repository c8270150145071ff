/* instant.c: times as people and programs write them. */
#include "cron/instant.h"

#include "base/duration.h"
#include "cron/calendar.h"

#include <stdbool.h>
#include <string.h>

/* Reads exactly `digits` digits at *p and then, unless `then` is NUL, that character. */
static bool read_field(const char **p, int digits, const char *then, int min, int max, int *field)
{
    *field = 0;
    for (int i = 0; i < digits; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        *field = *field * 10 + (**p - '0');
    }
    if (*then && (!**p || !strchr(then, *(*p)++)))
        return false;
    return *field >= min && *field <= max;
}

/* Reads `Z` or `+01:00`: seconds east of Greenwich. */
static bool instant_read_zone(const char **p, int *east)
{
    int sign = **p == '-' ? -1 : 1, hours, minutes;

    *east = 0;
    if (**p == 'Z' || **p == 'z') {
        (*p)++;
        return true;
    }
    if (**p != '+' && **p != '-')
        return false;
    (*p)++;
    if (!read_field(p, 2, ":", 0, 23, &hours) || !read_field(p, 2, "", 0, 59, &minutes))
        return false;
    *east = sign * (hours * 3600 + minutes * 60);
    return true;
}

/* See RFC 3339, section 5.6. */
static bool read_rfc3339(const char *word, double *unix_seconds)
{
    const char *p = word;
    int year, month, day, hour, minute, east;
    double second;

    if (!read_field(&p, 4, "-", 1970, 5137, &year) || !read_field(&p, 2, "-", 1, 12, &month) ||
        !read_field(&p, 2, "Tt ", 1, later_month_days(year, month), &day) ||
        !read_field(&p, 2, ":", 0, 23, &hour) || !read_field(&p, 2, ":", 0, 59, &minute))
        return false;
    if (p[0] < '0' || p[0] > '6' || p[1] < '0' || p[1] > '9' || (p[2] >= '0' && p[2] <= '9') ||
        !later_duration_real(&p, &second) || second >= 61 || !instant_read_zone(&p, &east) || *p)
        return false;
    *unix_seconds = (double)(later_days(year, month, day) * LATER_DAY + hour * 3600 + minute * 60) +
                    second - east;
    return *unix_seconds >= 0;
}

int later_instant_read(const char *word, const char *what, double *unix_seconds,
                       struct later_error *err)
{
    const char *p = word;

    if (read_rfc3339(word, unix_seconds))
        return 0;
    if (!later_duration_real(&p, unix_seconds) || *p)
        return later_fail(err, LATER_E_USAGE,
                          "%s: %.40s is not a time: write UNIX seconds or 2026-01-31T12:00:00Z",
                          what, word);
    if (*unix_seconds > LATER_INSTANT_MAX)
        return later_fail(err, LATER_E_USAGE, "%s: %.40s is beyond the year 5137; milliseconds?",
                          what, word);
    return 0;
}
