/*
 * unit.h: the tests of a program. No list names them: they run in the order of the file, each in a
 * process of its own, and their results are TAP. main() is in the library.
 *
 *     CASE("reads", set_up, tear_down);
 *
 *     TEST(an_empty_line)
 *     {
 *         …
 *     }
 *
 *     TEST_EACH(a_bad_line, COUNT(bad))
 *     {
 *         … bad[_i] …
 *     }
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A call that is made before the first test, in its place among TEST and CASE. */
#define AT_START(call) AT_START_OF_LINE(call, __LINE__)

/* All tests below, up to the next CASE, are in this one, and run between set_up() and tear_down(),
 * which may be NULL. CK_RUN_CASE=NAME runs them alone. Tests above the first CASE are in one that
 * is named after the file. */
#define CASE(name, set_up, tear_down) AT_START(unit_case(name, set_up, tear_down))

/* A test; one for each row of a table, `_i` from 0, of which each is a result, NAME[_i]; and one
 * that has to end by this signal, left out where tests have no process of their own. */
#define TEST(name)           UNIT_TEST(name, unit_add(&name##_test, 0))
#define TEST_EACH(name, n)   UNIT_TEST(name, unit_add_each(&name##_test, (int)(n)))
#define TEST_SIGNAL(name, s) UNIT_TEST(name, unit_forks() ? unit_add(&name##_test, s) : (void)0)
#define COUNT(array)         ((int)(sizeof(array) / sizeof *(array)))

/* One that stands further above, once more, in this case. */
#define AGAIN(name) AT_START(unit_add(&name##_test, 0))

/* Linkers sort what comes before main() by this number, and those up to 100 are not ours. */
#define AT_START_OF_LINE(call, line) AT_START_NAMED(call, line)
#define AT_START_NAMED(call, line)                                                                 \
    __attribute__((constructor(101 + line))) static void unit_at_start_##line(void)                \
    {                                                                                              \
        call;                                                                                      \
    }                                                                                              \
    _Static_assert(true, "a semicolon stands here")
#define UNIT_TEST(name, add)                                                                       \
    static void name##_fn(int _i);                                                                 \
    static const TTest name##_test = { #name, name##_fn, __FILE__, __LINE__ };                     \
    AT_START(add);                                                                                 \
    static void name##_fn(int _i __attribute__((unused)))

/* Begins a case: the one to which tests are added. Returns it, for fixtures besides. */
TCase *unit_case(const char *name, void (*set_up)(void), void (*tear_down)(void));

/* The case to which tests are added, or the first if there is none yet, of tests in `file`. */
TCase *unit_current(const char *file);

/* Adds a test, which has to end by a signal, 0: as others do; and one for each row. */
void unit_add(const TTest *test, int end_signal);
void unit_add_each(const TTest *test, int rows);

/* Runs all that were added. Returns the exit status of the program. */
int unit_run(void);

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

/* Seconds for an answer that comes, or is refused: this process and the server may stand still. */
#define UNIT_PATIENT 60.0

#endif
