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

/* A row of a table has a name of its own: NAME[7]. Check keeps a pointer to it. */
static void add_row(const TTest *test, int row)
{
    static struct row {
        struct row *next;
        TTest test;
        char name[100];
    } * rows;
    struct row *one = calloc(1, sizeof *one);

    snprintf(one->name, sizeof one->name, "%s[%d]", test->name, row);
    one->test = *test;
    one->test.name = one->name;
    one->next = rows;
    rows = one;
    tcase_add_loop_test(current, &one->test, row, row + 1);
}

void unit_add(const TTest *test, int end_signal)
{
    tcase_add_test_raise_signal(unit_current(test->file), test, end_signal);
}

void unit_add_each(const TTest *test, int rows)
{
    unit_current(test->file);
    for (int i = 0; i < rows; i++)
        add_row(test, i);
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
