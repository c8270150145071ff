/* test_config_bad.c: configurations that must be refused, and how: the cases of one table,
 * tests/unit/bad_config.txt, whose head says how it is written. Each case is a result. */
#include "config/config.h"

#include "tests/unit/config_files.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define TABLE      "tests/unit/bad_config.txt"
#define BAD_MIN    261 /* there must be at least this many */
#define QUEUES_MAX 4096

static char *table;  /* the whole of it */
static char **cases; /* where in it each case begins */
static unsigned cases_count;

/* The number of cases has to be known before the first test runs, so nothing is asserted here. */
static void find_cases(void)
{
    const char *top = getenv("top_srcdir");
    char path[1024];
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/" TABLE, top ? top : ".");
    file = fopen(path, "r");
    if (!file || getdelim(&table, &size, '\0', file) <= 0) {
        printf("Bail out! %s: not there; run in the tree's root or set top_srcdir\n", path);
        exit(99);
    }
    fclose(file);
    cases = calloc(strlen(table), sizeof *cases);
    for (char *at = table; (at = strstr(at, "\n== ")); at++)
        cases[cases_count++] = at + 1;
}

/* Writes bad.conf, and the files behind it that begin with "-- NAME". */
static void put_files(char *text)
{
    const char *name = "bad.conf";

    while (name) {
        char *next = strstr(text, "\n-- ");

        if (next) {
            next[1] = '\0';
            next += strlen("\n-- ");
        }
        config_put(name, text);
        name = next;
        if (next) {
            text = strchr(next, '\n');
            *text++ = '\0';
        }
    }
}

CASE("bad", config_files_begin, config_files_end);
AT_START(find_cases());

TEST_EACH(case_of_table, cases_count)
{
    char name[80], where[100], expect[300], place[400];
    const char *end = strstr(cases[_i], "\n== ");
    char *text = end ? strndup(cases[_i], (size_t)(end + 1 - cases[_i])) : strdup(cases[_i]);

    ck_assert_msg(sscanf(text, "== %79s | %99s | %299[^\n]", name, where, expect) == 3,
                  "not == NAME | LINE | MESSAGE: %.60s", text);
    put_files(strchr(text, '\n') + 1);
    free(text);
    snprintf(place, sizeof place, "%s/%s%s: ", config_dir,
             strchr(where, ':') ? "" : "bad.conf:", where);
    memset(&config_err, 0, sizeof config_err);
    ck_assert_msg(config_load(config_path("bad.conf"), &config_err) == NULL, "%s: taken", name);
    ck_assert_msg(config_err.code == LATER_E_CONFIG, "%s: code %d", name, (int)config_err.code);
    ck_assert_msg(strncmp(config_err.text, place, strlen(place)) == 0, "%s: not at %s: %s", name,
                  place, config_err.text);
    ck_assert_msg(strstr(config_err.text, expect) != NULL, "%s: not \"%s\": %s", name, expect,
                  config_err.text);
}

TEST(too_many_queues)
{
    static char text[30 * QUEUES_MAX] = "queues = (\n";
    size_t used = strlen(text);

    for (int i = 0; i <= QUEUES_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "{ name = \"q%d\"; },", i);
    strcpy(text + used - 1, " );\n");
    config_put("bad.conf", text);
    config_refused("bad.conf", "%s/bad.conf:1: queues: 4097 are too many; at most 4096");
}

TEST(all_cases_are_there)
{
    ck_assert_uint_ge(cases_count, BAD_MIN);
}
