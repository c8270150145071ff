/* test_config_bad.c: configurations that must be refused, and how. Most are cases of one table,
 * tests/unit/bad_config/table, whose head says how it is written. Each case is a result. */
#include "config/config.h"

#include "tests/unit/config_files.h"
#include "tests/unit/unit.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#define FOLDER  "tests/unit/bad_config"
#define BAD_MIN 239 /* there must be at least this many */

static char *table;          /* the whole of it */
static char **cases;         /* where in it each case begins */
static unsigned cases_count; /* of the table */
static glob_t files;         /* cases with a file of their own */

static const char *top(void)
{
    const char *folder = getenv("top_srcdir");

    return folder ? folder : ".";
}

/* The configuration at path must be refused at `place` (FILE:LINE: ) with a message that contains
 * what is expected. */
static void assert_refused(const char *name, const char *path, const char *place,
                           const char *expect)
{
    memset(&config_err, 0, sizeof config_err);
    ck_assert_msg(config_load(path, &config_err) == NULL, "%s: taken", name);
    ck_assert_msg(config_err.code == LATER_E_CONFIG, "%s: code %d", name, (int)config_err.code);
    ck_assert_msg(strncmp(config_err.text, place, strlen(place)) == 0, "%s: not at %s: %s", name,
                  place, config_err.text);
    ck_assert_msg(strstr(config_err.text, expect) != NULL, "%s: not \"%s\": %s", name, expect,
                  config_err.text);
}

START_TEST(case_of_table)
{
    char name[80], expect[300], place[400];
    unsigned line;
    const char *end = strstr(cases[_i], "\n== ");
    char *text = end ? strndup(cases[_i], (size_t)(end + 1 - cases[_i])) : strdup(cases[_i]);

    ck_assert_msg(sscanf(text, "== %79s | %u | %299[^\n]", name, &line, expect) == 3,
                  "not == NAME | LINE | MESSAGE: %.60s", text);
    config_put("bad.conf", strchr(text, '\n') + 1);
    free(text);
    snprintf(place, sizeof place, "%s:%u: ", config_path("bad.conf"), line);
    assert_refused(name, config_path("bad.conf"), place, expect);
}
END_TEST

/* Copies the value of a line "# NAME: VALUE" at the head of text into out. Returns false if there
 * is none. */
static bool head(const char *text, const char *name, char *out, size_t size)
{
    char mark[20];
    const char *at;

    snprintf(mark, sizeof mark, "# %s: ", name);
    at = strstr(text, mark);
    if (!at || (at > text && at[-1] != '\n'))
        return false;
    at += strlen(mark);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
    return true;
}

/* Its head says with which message ("# expect:") and at which line it is refused, and "# file:"
 * where, if that is another one. */
START_TEST(case_of_file)
{
    const char *path = files.gl_pathv[_i], *name = strrchr(path, '/') + 1;
    char source[300], expect[300], file[100], line[20], place[1500];
    char *text;

    snprintf(source, sizeof source, FOLDER "/%s", name);
    text = config_source(source);
    ck_assert_msg(head(text, "expect", expect, sizeof expect), "%s: no # expect:", name);
    ck_assert_msg(head(text, "line", line, sizeof line), "%s: no # line:", name);
    if (!head(text, "file", file, sizeof file))
        snprintf(file, sizeof file, "%s", name);
    free(text);
    snprintf(place, sizeof place, "%s/" FOLDER "/%s:%s: ", top(), file, line);
    assert_refused(name, path, place, expect);
}
END_TEST

START_TEST(all_cases_are_there)
{
    ck_assert_uint_ge(cases_count + files.gl_pathc, BAD_MIN);
}
END_TEST

/* The number of cases has to be known before the first test runs, so nothing is asserted here. */
static void find_cases(void)
{
    char path[1024];
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/" FOLDER "/table", top());
    file = fopen(path, "r");
    if (!file || getdelim(&table, &size, '\0', file) <= 0) {
        printf("Bail out! %s: not there; run in the tree's root or set top_srcdir\n", path);
        exit(99);
    }
    fclose(file);
    cases = calloc(strlen(table), sizeof *cases);
    for (char *at = table; (at = strstr(at, "\n== ")); at++)
        cases[cases_count++] = at + 1;
    snprintf(path, sizeof path, "%s/" FOLDER "/*.conf", top());
    glob(path, 0, NULL, &files);
}

static TCase *bad(void)
{
    TCase *tc = UNIT_CASE("bad", config_files_begin, config_files_end, all_cases_are_there);

    find_cases();
    tcase_add_loop_test(tc, case_of_table, 0, (int)cases_count);
    tcase_add_loop_test(tc, case_of_file, 0, (int)files.gl_pathc);
    return tc;
}

UNIT_MAIN("config_bad", bad)
