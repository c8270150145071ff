/* text.c: times and numbers. */
#include "text.h"

#include "base/duration.h"
#include "cron/calendar.h"
#include "cron/instant.h"
#include "trouble/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int text_number(const char *word, const char *what, int64_t min, int64_t max, int64_t *number,
                struct later_error *err)
{
    size_t digits = strspn(word + (*word == '-'), "0123456789");

    if (digits > 0 && digits < 19 && !word[digits + (*word == '-')]) {
        *number = strtoll(word, NULL, 10);
        if (*number >= min && *number <= max)
            return 0;
    }
    return later_fail(err, LATER_E_USAGE,
                      "%s: %.40s is not a whole number from %" PRId64 " to %" PRId64, what, word,
                      min, max);
}

/* --- backoff --- */

char *text_backoff(const char *word, struct later_error *err)
{
    size_t room = 0;
    char *json = NULL;
    FILE *out;
    bool list = strchr(word, ',') != NULL, failed = false;

    if (*word == '[' || *word == '{')
        return strdup(word);
    out = open_memstream(&json, &room);
    if (out && list)
        fputc('[', out);
    for (const char *p = word; out && !failed; p++) {
        char piece[48], number[48];
        size_t len = strcspn(p, ",");
        double seconds;

        snprintf(piece, sizeof piece, "%.*s", (int)(len < 47 ? len : 47), p);
        failed = later_duration(piece, "--backoff", &seconds, err) < 0;
        if (!failed)
            fprintf(out, "%s%s", p == word ? "" : ",", text_put_real(number, 48, seconds));
        p += len;
        if (!*p)
            break;
    }
    if (out && list)
        fputc(']', out);
    if (!out || fclose(out) != 0)
        later_fail(err, LATER_E_SYSTEM, "no memory");
    if (failed) {
        free(json);
        json = NULL;
    }
    return json;
}

/* --- for people --- */

size_t text_width(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

char *text_put_age(char *out, size_t room, double seconds)
{
    char age[LATER_SAY_SIZE];

    snprintf(out, room, "%s", later_say_age(age, seconds));
    return out;
}

char *text_put_bytes(char *out, size_t room, uint64_t bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double number = (double)bytes;
    size_t unit = 0;

    while (number >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        number /= 1024;
        unit++;
    }
    snprintf(out, room, unit ? "%.1f %s" : "%.0f %s", number, units[unit]);
    return out;
}

char *text_put_time(char *out, size_t room, double unix_seconds)
{
    bool known = unix_seconds >= 0 && unix_seconds <= LATER_INSTANT_MAX;
    int64_t seconds = known ? (int64_t)unix_seconds : 0;
    struct later_date date = later_date(later_day_of(seconds));
    int second = (int)(seconds % LATER_DAY);

    if (known)
        snprintf(out, room, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02dZ", date.year, date.month,
                 date.day, second / 3600, second / 60 % 60, second % 60);
    else
        snprintf(out, room, "-");
    return out;
}

char *text_put_real(char *out, size_t room, double number)
{
    double micros = round(fabs(number) * 1e6);
    uint64_t whole = (uint64_t)(micros < 9e18 ? micros : 0);
    size_t len;

    if (!(micros < 9e18)) { /* too large to have decimals */
        snprintf(out, room, number < 1e15 && number > -1e15 ? "%.0f" : "%.17g", number);
        return out;
    }

    snprintf(out, room, "%s%" PRIu64 ".%06" PRIu64, number < 0 && whole ? "-" : "", whole / 1000000,
             whole % 1000000);
    len = strlen(out);
    while (out[len - 1] == '0')
        len--;
    out[out[len - 1] == '.' ? len - 1 : len] = '\0';
    return out;
}

const char *text_member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

double text_number_member(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

uint64_t text_count_member(const json_t *object, const char *name)
{
    double number = text_number_member(object, name);

    return number > 0 && number < 9e15 ? (uint64_t)number : 0;
}

const char *text_known(const char *text)
{
    return *text ? text : NULL;
}

double text_known_time(double at)
{
    return at > 0 ? at : NAN;
}
