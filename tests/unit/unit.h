/*
 * unit.h: what every unit test program shares: run a suite, print TAP.
 *
 *     static TCase *reads(void)
 *     {
 *         TCase *tc = tcase_create("reads");
 *
 *         tcase_add_test(tc, …);
 *         return tc;
 *     }
 *     UNIT_MAIN("backoff", reads, writes)
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the step through a long row of cases: 1 in the plain build; n under valgrind or a
 * sanitizer (LATER_SHORT), where all of them would take minutes. */
static inline unsigned unit_stride(unsigned n)
{
    return getenv("LATER_SHORT") ? n : 1;
}

/* Has each case a process of its own? Not under valgrind; there a case that must end its process
 * cannot run. */
static inline bool unit_forks(void)
{
    const char *fork = getenv("CK_FORK");

    return !fork || strcmp(fork, "no") != 0;
}

/* Check's own limit is 4 seconds, which a busy machine can need for anything. Nothing is measured
 * by this one: it names the test that hangs, before tests/limit.sh ends the program. Call it before
 * the first tcase_create(). */
static inline void unit_set_limit(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "600", 0);
}

/* Returns a test case: each of `tests`, NULL at the end, between set_up() and tear_down(), which
 * may be NULL. UNIT_CASE takes the tests as they are. */
static inline TCase *unit_case(const char *name, void (*set_up)(void), void (*tear_down)(void),
                               const TTest *const *tests)
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, set_up, tear_down);
    for (; *tests; tests++)
        tcase_add_test(tc, *tests);
    return tc;
}

#define UNIT_CASE(name, set_up, tear_down, ...)                                                    \
    unit_case(name, set_up, tear_down, (const TTest *const[]){ __VA_ARGS__, NULL })

/* Runs a suite and frees it. Returns the exit status of the program. */
static inline int unit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed;

    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Seconds for an answer that comes, or is refused: this process and the server may stand still. */
#define UNIT_PATIENT 60.0

/* The main() of a test program: its name, and the functions that make its test cases. */
#define UNIT_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        TCase *(*const unit_cases[])(void) = { __VA_ARGS__ };                                      \
        Suite *unit_suite = suite_create(name);                                                    \
                                                                                                   \
        unit_set_limit();                                                                          \
        for (size_t unit_i = 0; unit_i < sizeof unit_cases / sizeof *unit_cases; unit_i++)         \
            suite_add_tcase(unit_suite, unit_cases[unit_i]());                                     \
        return unit_run(unit_suite);                                                               \
    }

#endif
