/* say.c: numbers and times in lines for people. */
#include "trouble/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY 86400.0

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
    snprintf(out, LATER_SAY_SIZE, "%.0f d", seconds / DAY);
    return out;
}

char *later_say_since(char *out, double at, double now)
{
    time_t second = (time_t)(at >= 0 && at < 1e11 ? at : 0);
    struct tm tm;

    gmtime_r(&second, &tm);
    strftime(out, LATER_SAY_SIZE, fabs(now - at) < DAY ? "%H:%M UTC" : "%Y-%m-%d %H:%M UTC", &tm);
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
