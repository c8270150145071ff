/* test_schedule.c: what a schedule does at a tick that comes in time, or late; its definition. */
#include "cron/schedule.h"

#include "tests/unit/unit.h"

#include <string.h>

#define HOUR 3600
#define NOON INT64_C(1767268800) /* 2026-01-01T12:00:00Z */

static struct later_schedule hourly(enum later_catch_up catch_up)
{
    struct later_schedule schedule = { .catch_up = catch_up, .late = LATER_SCHEDULE_LATE };
    struct later_error err;

    ck_assert_int_eq(later_schedule_set(&schedule, "0 * * * *", NULL, &err), 0);
    return schedule;
}

typedef void decide(const struct later_schedule *schedule, const struct later_zone *zone,
                    const char *name, int64_t due, int64_t now, struct later_firing *firing);

static struct later_firing decided(decide *by, const struct later_schedule *schedule, int64_t due,
                                   int64_t now)
{
    struct later_error err;
    struct later_zone *utc = later_zone_open("UTC", &err);
    struct later_firing firing;

    by(schedule, utc, "s", due, now, &firing);
    later_zone_free(utc);
    return firing;
}

static struct later_firing fire(const struct later_schedule *schedule, int64_t due, int64_t now)
{
    return decided(later_schedule_fire, schedule, due, now);
}

/* Counts how many are pushed until the next tick lies ahead, and how many are missed. */
static uint32_t pushed(const struct later_schedule *schedule, int64_t due, int64_t now,
                       uint32_t *missed)
{
    uint32_t count = 0;

    *missed = 0;
    while (due <= now) {
        struct later_firing firing = fire(schedule, due, now);

        ck_assert(firing.more && firing.next > due);
        count += firing.push;
        *missed += firing.missed;
        due = firing.next;
    }
    ck_assert_int_eq(due, now / HOUR * HOUR + HOUR);
    return count;
}

/* In time, or a minute late: each tick, whatever the policy. */
TEST(test_in_time)
{
    for (int policy = 0; policy < 3; policy++) {
        struct later_schedule schedule = hourly((enum later_catch_up)policy);

        for (int late = 0; late <= LATER_SCHEDULE_LATE; late += 10) {
            struct later_firing firing = fire(&schedule, NOON, NOON + late);

            ck_assert(firing.push && firing.more);
            ck_assert_int_eq(firing.tick, NOON);
            ck_assert_int_eq(firing.next, NOON + HOUR);
            ck_assert_uint_eq(firing.missed, 0);
            ck_assert_int_eq(firing.delay, 0);
        }
    }
}

/* All hosts down for 90 minutes: 1, 0, and 1 or 2. */
TEST(test_ninety_minutes)
{
    static const struct {
        enum later_catch_up catch_up;
        int64_t from; /* they go down this many seconds after a full hour */
        uint32_t pushed, missed;
    } cases[] = {
        { LATER_CATCH_UP_LAST, 600, 1, 0 },  { LATER_CATCH_UP_NONE, 600, 0, 1 },
        { LATER_CATCH_UP_ALL, 600, 1, 0 },   { LATER_CATCH_UP_LAST, 2400, 1, 1 },
        { LATER_CATCH_UP_NONE, 2400, 0, 2 }, { LATER_CATCH_UP_ALL, 2400, 2, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct later_schedule schedule = hourly(cases[i].catch_up);
        uint32_t missed;

        ck_assert_uint_eq(pushed(&schedule, NOON + HOUR, NOON + cases[i].from + 5400, &missed),
                          cases[i].pushed);
        ck_assert_uint_eq(missed, cases[i].missed);
    }
}

/* A week: `all` looks back a day; of a schedule of every second only the last 100. */
TEST(test_bounds)
{
    struct later_schedule schedule = hourly(LATER_CATCH_UP_ALL);
    struct later_firing firing;
    struct later_error err;
    uint32_t missed;

    ck_assert_uint_eq(pushed(&schedule, NOON, NOON + 7 * 24 * HOUR + 1800, &missed), 24);
    ck_assert_uint_eq(missed, 6 * 24 + 1);
    ck_assert_int_eq(later_schedule_set(&schedule, "* * * * * *", NULL, &err), 0);
    firing = fire(&schedule, NOON, NOON + 7 * 24 * HOUR);
    ck_assert_int_eq(firing.tick, NOON + 7 * 24 * HOUR - 99);
    ck_assert_uint_eq(firing.missed, LATER_SCHEDULE_MISSED);
    schedule.catch_up = LATER_CATCH_UP_LAST;
    ck_assert_int_eq(fire(&schedule, NOON, NOON + 365 * 24 * HOUR).tick, NOON + 365 * 24 * HOUR);
}

/* Ticks are between from and until, and those beyond are neither pushed nor missed, whatever the
 * policy. */
TEST(test_from_and_until)
{
    for (int policy = 0; policy < 3; policy++) {
        struct later_schedule schedule = hourly((enum later_catch_up)policy);
        struct later_firing firing;

        schedule.from = NOON + HOUR - 7;
        schedule.until = NOON + 3 * HOUR;
        firing = fire(&schedule, NOON, NOON + 5); /* of before there were bounds */
        ck_assert(!firing.push && firing.more && firing.missed == 0);
        ck_assert_int_eq(firing.next, NOON + HOUR);
        firing = fire(&schedule, NOON + 3 * HOUR, NOON + 3 * HOUR);
        ck_assert(firing.push && !firing.more);
        firing = fire(&schedule, NOON + 4 * HOUR, NOON + 4 * HOUR);
        ck_assert(!firing.push && !firing.more && firing.missed == 0);
        firing = fire(&schedule, NOON, NOON + 99 * HOUR); /* 13, 14 and 15 h came long ago */
        ck_assert_int_eq(firing.push, policy == LATER_CATCH_UP_LAST);
        ck_assert_int_eq(firing.more, false);
        ck_assert_uint_eq(firing.missed, policy == LATER_CATCH_UP_LAST ? 2 : 3);
        if (firing.push)
            ck_assert_int_eq(firing.tick, NOON + 3 * HOUR);
    }
}

TEST(test_bounds_are_read)
{
    struct later_schedule schedule = hourly(LATER_CATCH_UP_LAST);
    struct later_error err;

    ck_assert_int_eq(later_schedule_bound(&schedule, "2000000000.5", "2000001000.5", &err), 0);
    ck_assert_int_eq(schedule.from, 2000000001);
    ck_assert_int_eq(schedule.until, 2000001000);
    ck_assert_int_eq(later_schedule_bound(&schedule, "2000000000", "1999999999", &err), -1);
    ck_assert_str_eq(err.text, "until: 1999999999 is before its beginning");
    ck_assert_int_eq(later_schedule_bound(&schedule, "90", NULL, &err), -1);
    ck_assert_str_eq(err.text, "from: 90 is before 2001; it is a time, not a duration");
    ck_assert_int_eq(later_schedule_bound(&schedule, "soon", NULL, &err), -1);
    ck_assert_int_eq(strncmp(err.text, "from: ", 6), 0);
    ck_assert_int_eq(later_schedule_between(&schedule, 2000000000.5, 2000001000.5, &err), 0);
    ck_assert_int_eq(schedule.from, 2000000001);
    ck_assert_int_eq(schedule.until, 2000001000);
    ck_assert_int_eq(later_schedule_between(&schedule, 2000000000, 1999999999, &err), -1);
    ck_assert_str_eq(err.text, "until: 1999999999 is before its beginning");
    ck_assert_int_eq(later_schedule_between(&schedule, 90, 0, &err), -1);
    ck_assert_str_eq(err.text, "from: 90 is before 2001; it is a time, not a duration");
    ck_assert_int_eq(later_schedule_between(&schedule, 0, 2e12, &err), -1);
    ck_assert_str_eq(err.text, "until: 2000000000000 is beyond the year 5137; milliseconds?");
    ck_assert_int_eq(later_schedule_between(&schedule, NAN, 0, &err), -1);
    ck_assert_int_eq(later_schedule_between(&schedule, 0, 0, &err), 0);
    ck_assert_int_eq(schedule.from + schedule.until, 0);
    ck_assert_int_eq(later_schedule_bound(&schedule, NULL, NULL, &err), 0);
    ck_assert_int_eq(schedule.from + schedule.until, 0);
}

/* The same on every host, before the next tick, and not all at once. */
TEST(test_spread)
{
    struct later_schedule schedule = hourly(LATER_CATCH_UP_LAST);
    int64_t least = HOUR, most = 0;

    schedule.spread = 2 * HOUR;
    for (int64_t tick = NOON; tick < NOON + 1000 * HOUR; tick += HOUR) {
        struct later_firing firing = fire(&schedule, tick, tick);

        ck_assert_int_eq(firing.delay, fire(&schedule, tick, tick + 5).delay);
        least = firing.delay < least ? firing.delay : least;
        most = firing.delay > most ? firing.delay : most;
    }
    ck_assert_int_ge(least, 0);
    ck_assert_int_lt(most, HOUR);
    ck_assert_int_gt(most - least, HOUR * 9 / 10);
}

TEST(test_definition)
{
    static const char plain[] = "at=0 * * * *\n\n{\"type\":\"t\"}";
    static const char full[] = "at=@every 90\nzone=Europe/Berlin\ncatch_up=all\noverlap=queue\n"
                               "spread=5\nlate=0\npriority=-7\ngroup=a@b\nexpires_in=90\n"
                               "from=1000\nuntil=99999999999\nlimit=7\n\n{}";
    struct later_schedule schedule = hourly(LATER_CATCH_UP_LAST), read;
    struct later_error err;
    size_t len;
    char *text = later_schedule_write(&schedule, "{\"type\":\"t\"}", 12, &len);

    ck_assert_str_eq(text, plain);
    ck_assert_uint_eq(len, sizeof plain - 1);
    free(text);
    schedule = (struct later_schedule){ .catch_up = LATER_CATCH_UP_ALL,
                                        .overlap = LATER_OVERLAP_QUEUE,
                                        .spread = 5,
                                        .priority = -7,
                                        .group = "a@b",
                                        .expires_in = 90,
                                        .from = 1000,
                                        .until = 99999999999,
                                        .limit = 7 };
    ck_assert_int_eq(later_schedule_set(&schedule, "@every 90", "Europe/Berlin", &err), 0);
    text = later_schedule_write(&schedule, "{}", 2, &len);
    ck_assert_str_eq(text, full);
    ck_assert_int_eq(later_schedule_read(&read, text, &err), 0);
    free(text);
    text = later_schedule_write(&read, "{}", 2, &len);
    ck_assert_str_eq(text, full);
    free(text);
}

/* What a foreign hand has written there. */
TEST(test_foreign_definitions)
{
    static const char *const bad[] = { "",
                                       "\n\n",
                                       "zone=UTC\n",
                                       "at=\n",
                                       "at=61 * * * *\n",
                                       "at=TZ=Asia/Tokyo 0 0 * * *\nzone=Europe/Berlin\n" };
    struct later_schedule schedule;
    struct later_error err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(later_schedule_read(&schedule, bad[i], &err), -1);
    ck_assert_int_eq(later_schedule_read(&schedule,
                                         "at=0 0 * * *\nlate=-1\nspread=x\npriority=101\n"
                                         "catch_up=often\nexpires_in=0\nfrom=x\nuntil=-1\n"
                                         "limit=0\n",
                                         &err),
                     0);
    ck_assert_int_eq(schedule.late, LATER_SCHEDULE_LATE);
    ck_assert_int_eq(schedule.spread + schedule.priority + schedule.expires_in, 0);
    ck_assert_int_eq(schedule.from + schedule.until + schedule.limit, 0);
    ck_assert_int_eq(schedule.catch_up, LATER_CATCH_UP_LAST);
}

/* An instant that somebody has set who knows no calendars. */
TEST(test_asked)
{
    struct later_schedule schedule = hourly(LATER_CATCH_UP_LAST);
    struct later_firing firing = decided(later_schedule_answer, &schedule, NOON + 1, NOON + 2);

    ck_assert(!firing.push && firing.more && firing.missed == 0);
    ck_assert_int_eq(firing.next, NOON + HOUR);
    firing = decided(later_schedule_answer, &schedule, NOON, NOON + 1);
    ck_assert(firing.push && firing.tick == NOON && firing.next == NOON + HOUR);
    /* nobody was there for two hours and a half */
    firing = decided(later_schedule_answer, &schedule, NOON - 1800, NOON + 2 * HOUR);
    ck_assert(firing.push && firing.tick == NOON + 2 * HOUR && firing.missed == 2);
    schedule.until = NOON + 1;
    firing = decided(later_schedule_answer, &schedule, NOON + 1, NOON + 2);
    ck_assert(!firing.push && !firing.more && firing.missed == 0);
}
