/* unit.c: what TEST and CASE add before main(). */
#include "unit.h"

#include <stdio.h>

static Suite *suite;
static TCase *current;

/* Check's own limit is 4 seconds, which a busy machine can need for anything. Nothing is measured
 * by this one: it names the test that hangs, before tests/limit.sh ends the program. */
static void begin(void)
{
    if (suite)
        return;
    setenv("CK_DEFAULT_TIMEOUT", "600", 0);
    suite = suite_create("");
}

TCase *unit_case(const char *name, void (*set_up)(void), void (*tear_down)(void))
{
    begin();
    current = tcase_create(name);
    tcase_add_checked_fixture(current, set_up, tear_down);
    suite_add_tcase(suite, current);
    return current;
}

/* Check keeps the name itself. */
static TCase *case_of_file(const char *file)
{
    static char name[80];
    const char *word = strstr(file, "/test_");

    snprintf(name, sizeof name, "%s", word ? word + strlen("/test_") : file);
    name[strcspn(name, ".")] = '\0';
    return unit_case(name, NULL, NULL);
}

TCase *unit_current(const char *file)
{
    return current ? current : case_of_file(file);
}

void unit_add(const TTest *test, int rows, int end_signal)
{
    TCase *tc = unit_current(test->file);

    if (end_signal && rows)
        tcase_add_test_raise_signal(tc, test, end_signal);
    else
        tcase_add_loop_test(tc, test, 0, rows);
}

int unit_run(void)
{
    SRunner *runner;
    int failed;

    begin();
    runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
