/* test_backoff.c: the wait before the next attempt, in exact values. */
#include "base/backoff.h"

#include "tests/unit/unit.h"

#include <math.h>

#define SHORTEST 0
#define LONGEST  UINT64_MAX

static const struct later_backoff normal = { .base = 1, .max = 3600, .jitter = 0.25 };

TEST(test_doubles_up_to_max)
{
    static const struct {
        uint32_t attempt;
        double longest, shortest;
    } rows[] = {
        { 1, 1, 0.75 },
        { 2, 2, 1.5 },
        { 3, 4, 3 },
        { 5, 16, 12 },
        { 12, 2048, 1536 },
        { 13, 3600, 2700 },
        { 31, 3600, 2700 },
        { 32, 3600, 2700 },
        { 33, 3600, 2700 },
        { 1024, 3600, 2700 },
        { 1025, 3600, 2700 },
        { 1026, 3600, 2700 },
        { UINT32_MAX, 3600, 2700 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_double_eq(later_backoff_delay(&normal, rows[i].attempt, LONGEST),
                            rows[i].longest);
        ck_assert_double_eq(later_backoff_delay(&normal, rows[i].attempt, SHORTEST),
                            rows[i].shortest);
    }
}

TEST(test_attempt_0_counts_as_1)
{
    struct later_backoff list = { .list_count = 2, .list = { 7, 8 } };

    ck_assert_double_eq(later_backoff_delay(&normal, 0, LONGEST), 1);
    ck_assert_double_eq(later_backoff_delay(&list, 0, LONGEST), 7);
}

/* Attempts where an int of 32 bits, and a double's exponent, would run over. */
TEST(test_no_overflow)
{
    struct later_backoff tiny = { .base = 0x1p-20, .max = 1e9, .jitter = 0 };
    struct later_backoff minute = { .base = 0x1p-1000, .max = 1e9, .jitter = 0 };
    struct later_backoff huge = { .base = 1e308, .max = 50, .jitter = 0 };

    ck_assert_double_eq(later_backoff_delay(&tiny, 31, LONGEST), 1024);
    ck_assert_double_eq(later_backoff_delay(&tiny, 32, LONGEST), 2048);
    ck_assert_double_eq(later_backoff_delay(&tiny, 33, LONGEST), 4096);
    ck_assert_double_eq(later_backoff_delay(&minute, 1024, LONGEST), 0x1p23);
    ck_assert_double_eq(later_backoff_delay(&minute, UINT32_MAX, LONGEST), LATER_DELAY_MAX);
    ck_assert_double_eq(later_backoff_delay(&huge, 1, LONGEST), 50);
    ck_assert_double_eq(later_backoff_delay(&huge, 2, LONGEST), 50);
    ck_assert_double_eq(later_backoff_delay(&huge, UINT32_MAX, LONGEST), 50);
}

TEST(test_zeroes)
{
    struct later_backoff base = { .base = 0, .max = 3600, .jitter = 0.25 };
    struct later_backoff max = { .base = 1, .max = 0, .jitter = 0.25 };

    ck_assert_double_eq(later_backoff_delay(&base, 1, LONGEST), 0);
    ck_assert_double_eq(later_backoff_delay(&base, UINT32_MAX, LONGEST), 0);
    ck_assert_double_eq(later_backoff_delay(&max, 1, LONGEST), 0);
    ck_assert_double_eq(later_backoff_delay(&max, UINT32_MAX, LONGEST), 0);
}

TEST(test_what_was_not_said)
{
    struct later_backoff backoff = { .base = 2, .max = -1, .jitter = -1 };

    ck_assert_double_eq(later_backoff_delay(&backoff, 3, SHORTEST), 8);
    ck_assert_double_eq(later_backoff_delay(&backoff, 3, LONGEST), 8);
    ck_assert_double_eq(later_backoff_delay(&backoff, 1000, LONGEST), LATER_DELAY_MAX);
    backoff.base = -1;
    ck_assert_double_eq(later_backoff_delay(&backoff, 3, LONGEST), 0);
    backoff.base = NAN;
    ck_assert_double_eq(later_backoff_delay(&backoff, 3, LONGEST), 0);
}

TEST(test_no_wait_over_ten_years)
{
    struct later_backoff backoff = { .base = 1, .max = 1e300, .jitter = 0 };
    struct later_backoff list = { .list_count = 2, .list = { 1e300, 1 } };

    ck_assert_double_eq(later_backoff_delay(&backoff, 64, LONGEST), LATER_DELAY_MAX);
    ck_assert_double_eq(later_backoff_delay(&list, 1, LONGEST), LATER_DELAY_MAX);
}

TEST(test_jitter_is_spread)
{
    struct later_backoff full = { .base = 100, .max = 100, .jitter = 1 };
    double before = -1;

    ck_assert_double_eq(later_backoff_delay(&full, 1, SHORTEST), 0);
    ck_assert_double_eq(later_backoff_delay(&full, 1, LONGEST), 100);
    for (uint64_t i = 0; i < 256; i++) { /* evenly, and rising with the random bits */
        double wait = later_backoff_delay(&full, 1, i << 56);

        ck_assert_double_eq_tol(wait, (double)i * 100 / 256, 1e-9);
        ck_assert_double_gt(wait, before);
        before = wait;
    }
    ck_assert_double_eq_tol(later_backoff_delay(&normal, 3, UINT64_C(1) << 63), 3.5, 1e-9);
}

TEST(test_list)
{
    struct later_backoff backoff = {
        .base = 9, .max = 2, .jitter = 1, .list_count = 3, .list = { 1, 60.5, 0 }
    };
    struct later_backoff full = { .list_count = LATER_BACKOFF_LIST_MAX };

    for (int random = 0; random < 2; random++) { /* no jitter, no max */
        uint64_t bits = random ? LONGEST : SHORTEST;

        ck_assert_double_eq(later_backoff_delay(&backoff, 1, bits), 1);
        ck_assert_double_eq(later_backoff_delay(&backoff, 2, bits), 60.5);
        ck_assert_double_eq(later_backoff_delay(&backoff, 3, bits), 0);
        backoff.list[2] = 7;
        ck_assert_double_eq(later_backoff_delay(&backoff, 3, bits), 7);
        ck_assert_double_eq(later_backoff_delay(&backoff, 4, bits), 7);
        ck_assert_double_eq(later_backoff_delay(&backoff, UINT32_MAX, bits), 7);
        backoff.list[2] = 0;
    }
    full.list[LATER_BACKOFF_LIST_MAX - 1] = 5;
    ck_assert_double_eq(later_backoff_delay(&full, 31, LONGEST), 0);
    ck_assert_double_eq(later_backoff_delay(&full, 32, LONGEST), 5);
    ck_assert_double_eq(later_backoff_delay(&full, 33, LONGEST), 5);
}
