/* test_moment.c: times as people write them. The expected values were read from a calendar. */
#include "moment.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* Sunday, 2026-11-22 14:30:00 in Central Europe, 13:30 UTC. */
#define NOW 1795354200

static const struct {
    const char *word, *meant; /* in UTC */
} said[] = {
    { "1767225600", "2026-01-01T00:00:00Z" },
    { "2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z" },
    { "2026-01-31 13:00:00+01:00", "2026-01-31T12:00:00Z" },
    { "tomorrow 9:00", "2026-11-23T08:00:00Z" },
    { "Tomorrow 09:00", "2026-11-23T08:00:00Z" },
    { "tomorrow 9:00:30", "2026-11-23T08:00:30Z" },
    { "today 14:31", "2026-11-22T13:31:00Z" },
    { "14:31", "2026-11-22T13:31:00Z" },
    { "14:30", "2026-11-23T13:30:00Z" },
    { "0:00", "2026-11-22T23:00:00Z" },
    { "sunday 15:00", "2026-11-22T14:00:00Z" },
    { "sun 14:00", "2026-11-29T13:00:00Z" },
    { "mon 9:00", "2026-11-23T08:00:00Z" },
    { "SAT 9:00", "2026-11-28T08:00:00Z" },
    { "wednesday 23:59", "2026-11-25T22:59:00Z" },
    { "2026-07-01 9:00", "2026-07-01T07:00:00Z" }, /* summer */
    { "2027-01-01", "2026-12-31T23:00:00Z" },
    { "2028-02-29T09:00", "2028-02-29T08:00:00Z" },
    { "2026-10-25 2:30", "2026-10-25T00:30:00Z" }, /* shown twice: the first */
    { "2026-10-25 3:00", "2026-10-25T02:00:00Z" },
    { "2026-03-29 3:00", "2026-03-29T01:00:00Z" },
};

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

TEST_EACH(test_said, COUNT(said))
{
    struct later_error err = { .text = "" };
    double got = -1;
    time_t seconds;
    struct tm tm;
    char text[32];

    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    ck_assert_msg(moment_read(said[_i].word, "--at", NOW, &got, &err) == 0, "%s: %s", said[_i].word,
                  err.text);
    seconds = (time_t)got;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &tm));
    ck_assert_msg(strcmp(text, said[_i].meant) == 0, "%s is %s, not %s", said[_i].word,
                  said[_i].meant, text);
}

static const struct {
    const char *word, *why;
} refused[] = {
    { "tomorrow", "\"tomorrow 9:00\"" },
    { "9am", "is not a time" },
    { "tomorrow 9", "is not a time" },
    { "tomorrow at 9:00", "is not a time" },
    { "24:00", "is not a time" },
    { "9:60", "is not a time" },
    { "9:0", "is not a time" },
    { "9:00 ", "is not a time" },
    { " 9:00", "is not a time" },
    { "noon", "is not a time" },
    { "", "is not a time" },
    { "today 9:00", "has passed" },
    { "today 14:30", "has passed" },
    { "2026-02-29 9:00", "is not a date" },
    { "2026-13-01", "is not a date" },
    { "2026-1-31", "is not a time" },
    { "2026-01-31  9:00", "is not a time" },
    { "2026-03-29 2:30", "put forward" },
    { "1767225600000", "milliseconds" },
};

TEST_EACH(test_refused, COUNT(refused))
{
    struct later_error err = { .text = "" };
    double got;

    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    ck_assert_msg(moment_read(refused[_i].word, "--at", NOW, &got, &err) < 0, "'%s' was taken",
                  refused[_i].word);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s: %s", refused[_i].word, err.text);
}

TEST(test_zones)
{
    struct later_error err = { .text = "" };
    double got;

    set_zone("Europe/Berlinn");
    ck_assert_int_eq(moment_read("9:00", "--at", NOW, &got, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "TZ is Europe/Berlinn"));
    ck_assert_int_eq(moment_read("1795358200", "--at", NOW, &got, &err), 0); /* asks no zone */
    set_zone("UTC");
    ck_assert_int_eq(moment_read("13:31", "--at", NOW, &got, &err), 0);
    ck_assert(got == NOW + 60);
    set_zone("LHST-10:30LHDT-11,M10.1.0,M4.1.0"); /* half an hour: 2026-10-04 2:00 to 2:30 */
    ck_assert_int_eq(moment_read("2026-10-04 2:15", "--at", NOW, &got, &err), -1);
    ck_assert_int_eq(moment_read("2026-10-04 2:30", "--at", NOW, &got, &err), 0);
    ck_assert(got == 1791041400); /* 2026-10-03T15:30:00Z */
}

/* A time that was shown is taken as that very time. */
TEST(test_microseconds)
{
    struct later_error err = { .text = "" };
    double got;

    for (int micros = 0; micros < 1000000; micros += 97) {
        char word[32];

        snprintf(word, sizeof word, "1795377555.%06d", micros);
        ck_assert_int_eq(moment_read(word, "--at", NOW, &got, &err), 0);
        if (got != strtod(word, NULL)) /* each assertion of Check's costs a system call */
            ck_abort_msg("%s is %.9f", word, got);
    }
    ck_assert_int_eq(moment_read("1795377555.91525300000000000000000001", "--at", NOW, &got, &err),
                     0);
    ck_assert_msg(got == 1795377555.915253, "more digits than a double holds: %.9f", got);
}
