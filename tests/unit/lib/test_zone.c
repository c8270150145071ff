/*
 * test_zone.c: every zone of the system compared with the C library, at each change of its clocks
 * and a second before, from 1970 to 2100; rules of all forms; broken files.
 */
#include "cron/calendar.h"
#include "cron/zone_rule.h"

#include "tests/unit/unit.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* --- against the C library --- */

static unsigned zones_seen, changes_seen;

static int32_t offset_by_libc(int64_t at)
{
    time_t t = (time_t)at;
    struct tm tm;

    localtime_r(&t, &tm);
    return (int32_t)tm.tm_gmtoff;
}

static void compare_zone(const char *name)
{
    struct later_error err = { 0 };
    struct later_zone *zone = later_zone_open(name, &err);
    int64_t at = 0, to = later_days(sizeof(time_t) < 8 ? 2038 : 2100, 1, 1) * LATER_DAY;

    ck_assert_msg(zone != NULL, "%s: %s", name, err.text);
    setenv("TZ", name, 1);
    tzset();
    while (at < to) {
        struct later_zone_span span = later_zone_at(zone, at);
        int64_t last = span.to < to ? span.to - 1 : to;

        /* No assertion where all is right: each costs Check a system call. */
        if (span.from > at || at >= span.to || offset_by_libc(at) != span.offset ||
            offset_by_libc(last) != span.offset ||
            offset_by_libc(at + (last - at) / 2) != span.offset)
            ck_abort_msg("%s from %" PRId64 " to %" PRId64, name, at, last);
        at = last + 1;
        changes_seen++;
    }
    later_zone_free(zone);
    zones_seen++;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    const char *name = path + strlen(LATER_ZONES_DIR) + 1;
    bool top_letter = ftw->level > 0 && *name >= 'A' && *name <= 'Z';

    (void)st;
    if (type == FTW_F && top_letter && !strchr(name, '.') && strcmp(name, "SECURITY") != 0)
        compare_zone(name);
    return 0;
}

TEST(test_all_zones)
{
    ck_assert_int_eq(nftw(LATER_ZONES_DIR, visit, 8, 0), 0);
    printf("# %u zones, %u spans\n", zones_seen, changes_seen);
    ck_assert_uint_gt(zones_seen, 300);
}

/* --- names --- */

TEST(test_names)
{
    static const char *const bad[] = { "Europe/Berlinn", "",         "/etc/passwd", "../passwd",
                                       "Europe",         "CEST",     "Europe/",     "zone.tab",
                                       "Europe\\Berlin", "right/UTC" };
    static const char *const good[] = { "UTC", "Etc/UTC", "Europe/Berlin", "Etc/GMT+5",
                                        "America/Argentina/Buenos_Aires" };
    struct later_error err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(later_zone_open(bad[i], &err) == NULL, "%s", bad[i]);
        ck_assert_int_eq(err.code, LATER_E_DATA);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct later_zone *zone = later_zone_open(good[i], &err);

        ck_assert_msg(zone != NULL, "%s: %s", good[i], err.text);
        later_zone_free(zone);
    }
}

/* --- rules --- */

static struct zone_rule read_rule(const char *text)
{
    struct zone_rule rule;

    ck_assert_msg(zone_rule_read(&rule, text, strlen(text)), "%s", text);
    return rule;
}

/* Each form against the C library, which takes the same text as TZ. */
TEST(test_rules)
{
    static const char *const rules[] = {
        "CET-1CEST,M3.5.0,M10.5.0/3",
        "EST5EDT,M3.2.0,M11.1.0",
        "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "IST-2IDT,M3.4.4/26,M10.5.0",
        "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
        "AAA3BBB,J60,J300",
        "AAA3BBB,59,300/4:30:15",
        "UTC0",
        "<+0545>-5:45",
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct zone_rule rule = read_rule(rules[i]);

        setenv("TZ", rules[i], 1);
        tzset();
        for (int64_t at = later_days(2023, 1, 1) * LATER_DAY;
             at < later_days(2030, 1, 1) * LATER_DAY; at += 900) {
            if (zone_rule_at(&rule, at).offset != offset_by_libc(at))
                ck_abort_msg("%s at %" PRId64, rules[i], at);
        }
    }
}

/* Daylight saving all the year (RFC 8536, 3.3.1). */
TEST(test_saving_for_ever)
{
    struct zone_rule rule = read_rule("EST5EDT,0/0,J365/25");

    for (int64_t at = later_days(2024, 1, 1) * LATER_DAY; at < later_days(2029, 1, 1) * LATER_DAY;
         at += 3600) {
        if (zone_rule_at(&rule, at).offset != -4 * 3600)
            ck_abort_msg("%" PRId64, at);
    }
}

TEST(test_bad_rules)
{
    static const char *const bad[] = { "C-1",
                                       "CET",
                                       "CET-1CEST",
                                       "CET-1CEST,M3.5.0",
                                       "CET-1CEST,M3.6.0,M10.5.0",
                                       "CET-1CEST,M13.5.0,M10.5.0",
                                       "CET-1CEST,M3.5.7,M10.5.0",
                                       "CET-1CEST,J0,J300",
                                       "CET-1CEST,M3.5.0,M10.5.0/200",
                                       "CET-99",
                                       "<CET-1",
                                       "CET-1CEST,M3.5.0,M10.5.0x" };
    struct zone_rule rule;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!zone_rule_read(&rule, bad[i], strlen(bad[i])), "%s", bad[i]);
}

/* --- files --- */

/* Whatever a file lacks at its end or has wrong in one byte: refused or read, never overrun. */
TEST(test_damaged)
{
    static unsigned char bytes[8192];
    struct later_error err;
    struct later_zone *zone;
    FILE *file = fopen(LATER_ZONES_DIR "/Europe/Berlin", "r");
    size_t len;

    ck_assert(file != NULL);
    len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    zone = later_zone_read(bytes, len, &err);
    ck_assert(zone != NULL);
    later_zone_free(zone);
    for (size_t cut = 0; cut < len; cut++) {
        unsigned char *copy = malloc(cut + 1); /* to its very end, for those who watch memory */

        memcpy(copy, bytes, cut);
        ck_assert(later_zone_read(copy, cut, &err) == NULL);
        ck_assert_int_eq(err.code, LATER_E_DATA);
        free(copy);
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char was = bytes[i];

        for (int bit = 0; bit < 8; bit += 7) {
            bytes[i] = (unsigned char)(was ^ (1u << bit));
            later_zone_free(later_zone_read(bytes, len, &err));
        }
        bytes[i] = was;
    }
}

TEST(test_not_a_zone)
{
    struct later_error err;

    ck_assert(later_zone_read("TZif", 4, &err) == NULL);
    ck_assert(later_zone_read("", 0, &err) == NULL);
    ck_assert(later_zone_open("leapseconds", &err) == NULL);
    ck_assert(strstr(err.text, "leapseconds: not a time zone file") != NULL);
}
