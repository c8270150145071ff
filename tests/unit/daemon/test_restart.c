/* test_restart.c: how long a worker that crashed has to wait, in exact seconds. */
#include "supervisor/restart.h"

#include "tests/unit/unit.h"

/* Quick crashes in a row: five are free, then 1 s, doubling to 60 s. */
static void check_row(struct restart *restart)
{
    static const double backlog[] = { 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60 };

    for (size_t i = 0; i < sizeof backlog / sizeof *backlog; i++)
        ck_assert_double_eq(restart_after(restart, RESTART_CRASH, 0.1), backlog[i]);
}

TEST(test_row)
{
    struct restart restart = { 0 };

    check_row(&restart);
    for (int i = 0; i < 100000; i++)
        ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 0), 60);
}

TEST(test_a_good_end_begins_anew)
{
    struct restart restart = { 0 };

    check_row(&restart);
    ck_assert_double_eq(restart_after(&restart, RESTART_GOOD, 0.1), 0);
    check_row(&restart);
    ck_assert_double_eq(restart_after(&restart, RESTART_GOOD, 1000), 0);
    check_row(&restart);
}

/* Ten seconds of life make a crash the first of a new row; a little less does not. */
TEST(test_a_long_life_begins_anew)
{
    struct restart restart = { 0 };

    check_row(&restart);
    ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 9.99), 60);
    ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 10), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 0), 0);
    ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 0), 1);
    for (int i = 0; i < 100; i++)
        ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 11), 0);
}

/* If jobs are to blame, nobody else waits for a minute. What then fails by itself does. */
TEST(test_a_job_is_to_blame)
{
    struct restart restart = { 0 };

    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(restart_after(&restart, RESTART_JOB, 0.1), 0);
    for (int i = 0; i < 20; i++)
        ck_assert_double_eq(restart_after(&restart, RESTART_JOB, 0.1), 1);
    ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 0.1), 60);
    ck_assert_double_eq(restart_after(&restart, RESTART_JOB, 0.1), 1);
}

/* Twenty thousand years of crashes do not run over. */
TEST(test_the_count_does_not_run_over)
{
    struct restart restart = { .crashes = UINT32_MAX - 1 };

    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(restart_after(&restart, RESTART_CRASH, 0), 60);
}
