/* words.c: says an expression in words. */
#include "cron/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TIMES 4 /* times of a day that are named each */

static const char *const weekdays[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday" };
static const char *const months[] = { "",        "January",  "February", "March",  "April",
                                      "May",     "June",     "July",     "August", "September",
                                      "October", "November", "December" };

/* The values of each field. */
static const struct {
    int first, last;
} words_range[LATER_FIELD_COUNT] = {
    [LATER_FIELD_SECOND] = { 0, 59 }, [LATER_FIELD_MINUTE] = { 0, 59 },
    [LATER_FIELD_HOUR] = { 0, 23 },   [LATER_FIELD_DAY] = { 1, 31 },
    [LATER_FIELD_MONTH] = { 1, 12 },  [LATER_FIELD_WEEKDAY] = { 0, 6 },
};

__attribute__((format(printf, 2, 3))) static void words_add(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list values;

    va_start(values, format);
    vsnprintf(out + len, LATER_CRON_WORDS - len, format, values);
    va_end(values);
}

static bool words_has(const struct later_expression *expr, enum later_field field, int value)
{
    return expr->in[field] >> value & 1;
}

static int words_count(const struct later_expression *expr, enum later_field field)
{
    int count = 0;

    for (int i = words_range[field].first; i <= words_range[field].last; i++)
        count += words_has(expr, field, i);
    return count;
}

static bool words_all(const struct later_expression *expr, enum later_field field)
{
    return words_count(expr, field) == words_range[field].last - words_range[field].first + 1;
}

/* Returns n if it has 0, n, 2n … to the end, and n fits into the whole without a rest; else 0. */
static int words_step(const struct later_expression *expr, enum later_field field)
{
    int size = words_range[field].last + 1, count = words_count(expr, field);
    int step = count > 1 ? size / count : 0;

    for (int value = 0; step > 1 && value < size; value++) {
        if (words_has(expr, field, value) != (value % step == 0))
            return 0;
    }
    return step > 1 && size % step == 0 ? step : 0;
}

static void words_value(char *out, enum later_field field, int value)
{
    if (field == LATER_FIELD_WEEKDAY)
        words_add(out, "%s", weekdays[value]);
    else if (field == LATER_FIELD_MONTH)
        words_add(out, "%s", months[value]);
    else
        words_add(out, "%d", value);
}

/* Adds "1, 5 to 9". */
static void words_list(char *out, const struct later_expression *expr, enum later_field field)
{
    const char *between = "";

    for (int i = words_range[field].first; i <= words_range[field].last; i++) {
        int end = i;

        if (!words_has(expr, field, i))
            continue;
        while (end < words_range[field].last && words_has(expr, field, end + 1))
            end++;
        end = end - i < 2 ? i : end; /* two are not a range */
        words_add(out, "%s", between);
        words_value(out, field, i);
        if (end > i) {
            words_add(out, " to ");
            words_value(out, field, end);
        }
        between = ", ";
        i = end;
    }
}

/* --- the time of a day --- */

static void words_every(char *out, int32_t every)
{
    static const struct {
        int32_t seconds;
        const char *word;
    } units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" } };
    size_t unit = 0;

    while (every % units[unit].seconds)
        unit++;
    if (every == units[unit].seconds)
        words_add(out, "every %s", units[unit].word);
    else
        words_add(out, "every %d %ss", (int)(every / units[unit].seconds), units[unit].word);
}

/* Adds each time of the day. */
static void words_times(char *out, const struct later_expression *expr)
{
    const char *before = "at ";

    for (int hour = 0; hour < 24; hour++) {
        for (int minute = 0; minute < 60 && words_has(expr, LATER_FIELD_HOUR, hour); minute++) {
            if (!words_has(expr, LATER_FIELD_MINUTE, minute))
                continue;
            words_add(out, "%s%02d:%02d", before, hour, minute);
            before = ", ";
        }
    }
}

static void words_hours(char *out, const struct later_expression *expr)
{
    int step = words_step(expr, LATER_FIELD_HOUR);

    if (step)
        words_add(out, " of every %d hours", step);
    else if (!words_all(expr, LATER_FIELD_HOUR)) {
        words_add(out, " in hours ");
        words_list(out, expr, LATER_FIELD_HOUR);
    }
}

static void words_minutes(char *out, const struct later_expression *expr)
{
    int step = words_step(expr, LATER_FIELD_MINUTE);
    int times = words_count(expr, LATER_FIELD_MINUTE) * words_count(expr, LATER_FIELD_HOUR);
    bool on_the_hour = expr->in[LATER_FIELD_MINUTE] == 1;

    if (times <= TIMES) {
        words_times(out, expr);
        return;
    }
    if (on_the_hour && words_step(expr, LATER_FIELD_HOUR)) {
        words_every(out, 3600 * words_step(expr, LATER_FIELD_HOUR));
        return;
    }
    if (words_all(expr, LATER_FIELD_MINUTE)) {
        words_add(out, "every minute");
    } else if (step) {
        words_every(out, 60 * step);
    } else if (on_the_hour) {
        words_add(out, "every hour");
    } else {
        words_add(out, "at minute%s ", words_count(expr, LATER_FIELD_MINUTE) > 1 ? "s" : "");
        words_list(out, expr, LATER_FIELD_MINUTE);
        if (words_all(expr, LATER_FIELD_HOUR))
            words_add(out, " of every hour");
    }
    words_hours(out, expr);
}

static void words_seconds(char *out, const struct later_expression *expr)
{
    int step = words_step(expr, LATER_FIELD_SECOND);

    if (expr->in[LATER_FIELD_SECOND] == 1) {
        words_minutes(out, expr);
        return;
    }
    if (words_all(expr, LATER_FIELD_SECOND))
        words_add(out, "every second");
    else if (step)
        words_every(out, step);
    else {
        words_add(out, "at second%s ", words_count(expr, LATER_FIELD_SECOND) > 1 ? "s" : "");
        words_list(out, expr, LATER_FIELD_SECOND);
    }
    if (words_all(expr, LATER_FIELD_MINUTE) && words_all(expr, LATER_FIELD_HOUR))
        words_add(out, "%s", step || words_all(expr, LATER_FIELD_SECOND) ? "" : " of every minute");
    else {
        words_add(out, ", ");
        words_minutes(out, expr);
    }
}

/* --- the day --- */

static const char *words_nth(int n)
{
    static const char *const names[] = { "", "first", "second", "third", "fourth", "fifth" };

    return names[n <= 5 ? n : 0];
}

/* Adds the days of the month, and how many kinds of them there were. */
static void words_days(char *out, const struct later_expression *expr)
{
    const char *between = "";

    if (expr->in[LATER_FIELD_DAY]) {
        words_add(out, "day ");
        words_list(out, expr, LATER_FIELD_DAY);
        between = ", ";
    }
    for (int n = 0; n < 31; n++) {
        if (!(expr->last_days >> n & 1))
            continue;
        if (n)
            words_add(out, "%s%d day%s before the last of the month", between, n, n > 1 ? "s" : "");
        else
            words_add(out, "%sthe last day of the month", between);
        between = ", ";
    }
    for (int day = 1; day <= 31; day++) {
        if (expr->near_days >> day & 1) {
            words_add(out, "%sthe working day nearest to day %d", between, day);
            between = ", ";
        }
    }
    if (expr->last_working_day)
        words_add(out, "%sthe last working day of the month", between);
}

static void words_weekdays(char *out, const struct later_expression *expr)
{
    const char *between = "";

    if (expr->in[LATER_FIELD_WEEKDAY]) {
        words_list(out, expr, LATER_FIELD_WEEKDAY);
        between = ", ";
    }
    for (int day = 0; day < 7; day++) {
        for (int n = 1; n <= 5; n++) {
            if (expr->nth[day] >> n & 1) {
                words_add(out, "%sthe %s %s of the month", between, words_nth(n), weekdays[day]);
                between = ", ";
            }
            if (expr->nth[day] >> (8 + n) & 1) {
                words_add(out, "%sthe %s%slast %s of the month", between, n > 1 ? words_nth(n) : "",
                          n > 1 ? " " : "", weekdays[day]);
                between = ", ";
            }
        }
    }
}

void later_cron_words(char out[LATER_CRON_WORDS], const struct later_expression *expr)
{
    bool days = !words_all(expr, LATER_FIELD_DAY), weekly = !words_all(expr, LATER_FIELD_WEEKDAY);

    *out = '\0';
    if (expr->every) {
        words_every(out, expr->every);
        return;
    }
    words_seconds(out, expr);
    if (days || weekly)
        words_add(out, ", on ");
    if (days)
        words_days(out, expr);
    if (days && weekly)
        words_add(out, "%s", expr->either ? " or " : ", if it is ");
    if (weekly)
        words_weekdays(out, expr);
    if (!words_all(expr, LATER_FIELD_MONTH)) {
        words_add(out, ", in ");
        words_list(out, expr, LATER_FIELD_MONTH);
    }
}
