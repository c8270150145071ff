/* expression.c: reads expressions for recurring times. */
#include "cron/expression.h"

#include "cron/calendar.h"
#include "cron/expression_field.h"

#include <string.h>
#include <strings.h>

#define SPACE " \t"

/* Within this many days each date falls on every weekday. */
#define ALL_DAYS (28 * 366)

/* LATER_NICKNAMES has those that people are told of. */
static const struct {
    const char *name, *text;
} nicknames[] = {
    { "@hourly", "0 * * * *" },   { "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
    { "@weekly", "0 0 * * 0" },   { "@monthly", "0 0 1 * *" }, { "@yearly", "0 0 1 1 *" },
    { "@annually", "0 0 1 1 *" },
};

/* Splits a text into words. Returns how many there are, LATER_FIELD_COUNT + 1 if too many. */
static size_t expression_split(const char *text, const char *words[], size_t lens[])
{
    size_t count = 0;

    for (text += strspn(text, SPACE); *text; text += strspn(text, SPACE)) {
        if (count == LATER_FIELD_COUNT)
            return count + 1;
        words[count] = text;
        lens[count] = strcspn(text, SPACE);
        text += lens[count++];
    }
    return count;
}

static bool begins_with_star(const char *text)
{
    return *text == '*' || *text == '?';
}

static int read_fields(struct later_expression *expr, const char *whole, const char *text,
                       struct later_error *err)
{
    const char *words[LATER_FIELD_COUNT];
    size_t lens[LATER_FIELD_COUNT], count = expression_split(text, words, lens), first;

    first = count == LATER_FIELD_COUNT ? 0 : 1;
    if (count != LATER_FIELD_COUNT && count != LATER_FIELD_COUNT - 1)
        return expression_fail(err, whole, text,
                               "an expression has five fields (minute hour day "
                               "month weekday), or six, with the second first");
    expr->in[LATER_FIELD_SECOND] = 1;
    for (size_t i = 0; i < count; i++) {
        enum later_field field = (enum later_field)(i + first);
        const struct field_text part = { whole, words[i], lens[i] };

        if (i + first == LATER_FIELD_SECOND)
            expr->in[LATER_FIELD_SECOND] = 0;
        if (expression_field_read(expr, field, &part, err) < 0)
            return -1;
    }
    expr->elapsed = begins_with_star(words[LATER_FIELD_MINUTE - first]) ||
                    begins_with_star(words[LATER_FIELD_HOUR - first]);
    expr->either = !begins_with_star(words[LATER_FIELD_DAY - first]) &&
                   !begins_with_star(words[LATER_FIELD_WEEKDAY - first]);
    return 0;
}

/* Reads 90, 90s, 2m30s, 1h, 7d: whole seconds. */
static int read_every(struct later_expression *expr, const char *whole, const char *text,
                      struct later_error *err)
{
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', LATER_DAY } };
    int64_t sum = 0;
    const char *at = text + strspn(text, SPACE);
    bool ok = *at;

    while (ok && *at && !strchr(SPACE, *at)) {
        size_t digits = strspn(at, "0123456789"), unit = 0;
        int64_t number = 0;

        for (size_t i = 0; i < digits && i < 9; i++)
            number = number * 10 + (at[i] - '0');
        at += digits;
        while (*at && unit < sizeof units / sizeof *units && units[unit].letter != *at)
            unit++;
        ok = digits > 0 && digits < 9 && (!*at || unit < sizeof units / sizeof *units);
        sum += ok ? number * (*at ? units[unit].seconds : 1) : 0;
        at += *at && ok;
        ok = ok && sum <= LATER_EVERY_MAX;
    }
    if (!ok || sum < 1 || at[strspn(at, SPACE)])
        return expression_fail(err, whole, text,
                               "@every needs a time, 1 second to 365 days: 90s, 2m30s, 1h");
    expr->every = (int32_t)sum;
    return 0;
}

static int read_nickname(struct later_expression *expr, const char *whole, const char *text,
                         struct later_error *err)
{
    size_t len = strcspn(text, SPACE);

    if (len == strlen("@every") && strncasecmp(text, "@every", len) == 0)
        return read_every(expr, whole, text + len, err);
    for (size_t i = 0; i < sizeof nicknames / sizeof *nicknames; i++) {
        if (strlen(nicknames[i].name) == len && strncasecmp(text, nicknames[i].name, len) == 0 &&
            !text[len + strspn(text + len, SPACE)])
            return read_fields(expr, whole, nicknames[i].text, err);
    }
    if (len == strlen("@reboot") && strncasecmp(text, "@reboot", len) == 0)
        return expression_fail(err, whole, text,
                               "@reboot is not a time: push the job when the host "
                               "starts");
    return expression_fail(err, whole, text, "must be " LATER_NICKNAMES " or @every TIME, alone");
}

/* Reads TZ=Z or CRON_TZ=Z before the fields. Returns what follows, or NULL with *err. */
static const char *expression_read_zone(struct later_expression *expr, const char *whole,
                                        const char *text, struct later_error *err)
{
    const char *name = strncmp(text, "TZ=", 3) == 0        ? text + 3
                       : strncmp(text, "CRON_TZ=", 8) == 0 ? text + 8
                                                           : NULL;
    size_t len = name ? strcspn(name, SPACE) : 0;

    if (!name)
        return text;
    if (len == 0 || len > LATER_ZONE_MAX) {
        expression_fail(err, whole, name, "a time zone belongs here, such as Europe/Berlin");
        return NULL;
    }
    memcpy(expr->zone, name, len);
    return name + len + strspn(name + len, SPACE);
}

/* Returns the day that 15W means: the working day nearest to the 15th in the same month. */
static int near_day(int64_t first, int day, int days)
{
    int weekday = later_weekday(first + day - 1);

    if (weekday == 6)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 0)
        return day < days ? day + 1 : day - 2;
    return day;
}

static bool day_is_in(const struct later_expression *expr, const struct later_date *date,
                      int64_t days, int of_month)
{
    int64_t first = days - date->day + 1;

    if ((expr->in[LATER_FIELD_DAY] >> date->day & 1) != 0 ||
        (expr->last_days >> (of_month - date->day) & 1) != 0)
        return true;
    if (expr->last_working_day && near_day(first, of_month, of_month) == date->day)
        return true;
    for (int day = 1; expr->near_days != 0 && day <= of_month; day++) {
        if ((expr->near_days >> day & 1) != 0 && near_day(first, day, of_month) == date->day)
            return true;
    }
    return false;
}

static bool weekday_is_in(const struct later_expression *expr, const struct later_date *date,
                          int64_t days, int of_month)
{
    int weekday = later_weekday(days);
    int n = (date->day - 1) / 7 + 1, back = (of_month - date->day) / 7 + 1;

    return (expr->in[LATER_FIELD_WEEKDAY] >> weekday & 1) != 0 ||
           (expr->nth[weekday] >> n & 1) != 0 || (expr->nth[weekday] >> (8 + back) & 1) != 0;
}

bool later_expression_day(const struct later_expression *expr, int64_t days)
{
    struct later_date date = later_date(days);
    int of_month = later_month_days(date.year, date.month);
    bool day, weekday;

    if ((expr->in[LATER_FIELD_MONTH] >> date.month & 1) == 0)
        return false;
    day = day_is_in(expr, &date, days, of_month);
    weekday = weekday_is_in(expr, &date, days, of_month);
    return expr->either ? day || weekday : day && weekday;
}

/* Does any day match? */
static bool can_be(const struct later_expression *expr)
{
    int64_t from = later_days(2000, 1, 1);

    for (int64_t days = from; days < from + ALL_DAYS; days++) {
        if (later_expression_day(expr, days))
            return true;
    }
    return false;
}

int later_expression_read(struct later_expression *expr, const char *whole, struct later_error *err)
{
    const char *text = whole + strspn(whole, SPACE);
    int status;

    memset(expr, 0, sizeof *expr);
    if (strlen(whole) > LATER_EXPRESSION_MAX)
        return later_fail(err, LATER_E_DATA, "an expression has at most %d bytes",
                          LATER_EXPRESSION_MAX);
    text = expression_read_zone(expr, whole, text, err);
    if (!text)
        return -1;
    status =
        *text == '@' ? read_nickname(expr, whole, text, err) : read_fields(expr, whole, text, err);
    if (status == 0 && !expr->every && !can_be(expr))
        return expression_fail(err, whole, text, "no year has such a day");
    return status;
}
