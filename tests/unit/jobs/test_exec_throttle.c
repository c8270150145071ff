/* test_exec_throttle.c: when a program may be started again, and how long its jobs pause. */
#include "tests/unit/../../jobs/exec_throttle.h"

#include "tests/unit/unit.h"

static struct exec_throttle throttle;

static void begin(void)
{
    throttle = (struct exec_throttle){ 0 };
}

CASE("throttles", begin, NULL);

/* A program that has performed a job may start at once. */
TEST(after_a_job)
{
    exec_throttle_ended(&throttle, 1000, true, "exit status 0");
    ck_assert_double_le(throttle.start_at, 1000);
    ck_assert_double_eq(exec_throttle_pause(&throttle, 1000, 0.1), 0.1);
}

/* 0.1, 0.2, … at most 5 s. After a job in between, it begins again. */
TEST(starts_ever_more_seldom)
{
    static const double waits[] = { 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5 };

    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        exec_throttle_ended(&throttle, 1000, false, "exit status 1");
        ck_assert_double_eq_tol(throttle.start_at - 1000, waits[i], 1e-9);
        ck_assert_double_eq_tol(exec_throttle_pause(&throttle, 1000, 0.1), waits[i], 1e-9);
    }
    ck_assert_str_eq(throttle.why, "exit status 1");
    exec_throttle_ended(&throttle, 2000, true, "");
    ck_assert_double_le(throttle.start_at, 2000);
    exec_throttle_ended(&throttle, 3000, false, "");
    ck_assert_double_eq_tol(throttle.start_at, 3000.1, 1e-9);
}

/* A quarter of the time since its first death, at most five minutes, however often it died since.
 */
TEST(pauses_grow)
{
    for (int i = 0; i < 10; i++)
        exec_throttle_ended(&throttle, 1000 + i * 10, false, "");
    ck_assert_double_eq_tol(exec_throttle_pause(&throttle, 1100, 0.1), 25, 1e-9);
    ck_assert_double_eq_tol(exec_throttle_pause(&throttle, 1100, 60), 60, 1e-9);
    ck_assert_double_eq_tol(exec_throttle_pause(&throttle, 5000, 0.1), 300, 1e-9);
}
