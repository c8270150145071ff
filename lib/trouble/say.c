/* say.c: numbers and times in lines for people. */
#include "trouble/say.h"

#include "cron/calendar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *later_say_age(char *out, double seconds)
{
    static const struct {
        double below, unit;
        const char *name;
    } steps[] = { { 120, 1, "s" }, { 7200, 60, "min" }, { 172800, 3600, "h" } };

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (seconds < steps[i].below) {
            double number = seconds / steps[i].unit;

            snprintf(out, LATER_SAY_SIZE, number < 10 ? "%.1f %s" : "%.0f %s", number,
                     steps[i].name);
            return out;
        }
    }
    snprintf(out, LATER_SAY_SIZE, "%.0f d", seconds / LATER_DAY);
    return out;
}

char *later_say_since(char *out, double at, double now)
{
    int64_t seconds = at >= 0 && at < 1e11 ? (int64_t)at : 0;
    struct later_date date = later_date(later_day_of(seconds));
    int minute = (int)(seconds % LATER_DAY / 60);
    char day[16] = "";

    if (!(fabs(now - at) < LATER_DAY))
        snprintf(day, sizeof day, "%04" PRId64 "-%02d-%02d ", date.year, date.month, date.day);
    snprintf(out, LATER_SAY_SIZE, "%s%02d:%02d UTC", day, minute / 60, minute % 60);
    return out;
}

char *later_say_count(char *out, int64_t count)
{
    char digits[24];
    size_t len, at = 0;

    snprintf(digits, sizeof digits, "%" PRId64, count > 0 ? count : 0);
    len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

char *later_say_nth(char *out, int64_t nth)
{
    static const char *const words[] = { "first", "second",  "third",  "fourth", "fifth",
                                         "sixth", "seventh", "eighth", "ninth",  "tenth" };
    static const char *const ends[] = { "th", "st", "nd", "rd" };
    int64_t last = nth % 10;

    if (nth >= 1 && nth <= (int64_t)(sizeof words / sizeof *words))
        strcpy(out, words[nth - 1]);
    else
        snprintf(out, LATER_SAY_SIZE, "%" PRId64 "%s", nth,
                 ends[last <= 3 && nth / 10 % 10 != 1 ? last : 0]);
    return out;
}

char *later_say_by(char *out, const char *who, double since, double until, double now)
{
    char at[LATER_SAY_SIZE], more[LATER_SAY_SIZE];

    snprintf(out, LATER_SAY_BY, "%s%.64s%s%s%s%s%s", *who ? " by " : "", who,
             since > 0 ? " since " : "", since > 0 ? later_say_since(at, since, now) : "",
             until > 0 ? ", for " : "", until > 0 ? later_say_age(more, fmax(until - now, 0)) : "",
             until > 0 ? " more" : "");
    return out;
}
