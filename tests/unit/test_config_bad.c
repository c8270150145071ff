/* test_config_bad.c: tests/unit/bad_config, files that must be refused, and how. */
#include "config/config.h"

#include "config_files.h"
#include "unit.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define BAD_MIN 60 /* there must be at least this many */

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

/* The file must be refused at the file and line that its head names ("# file:" if it is another
 * one, "# line:"), with a message that contains what "# expect:" says. */
static void assert_bad(const char *directory, const char *name)
{
    char path[1300], expect[300], file[100], line[20], place[1500];
    char *text;

    snprintf(path, sizeof path, "tests/unit/bad_config/%s", name);
    text = config_source(path);
    ck_assert_msg(head(text, "expect", expect, sizeof expect), "%s: no # expect:", name);
    ck_assert_msg(head(text, "line", line, sizeof line), "%s: no # line:", name);
    if (!head(text, "file", file, sizeof file))
        snprintf(file, sizeof file, "%s", name);
    free(text);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(place, sizeof place, "%s/%s:%s: ", directory, file, line);
    memset(&config_err, 0, sizeof config_err);
    ck_assert_msg(config_load(path, &config_err) == NULL, "%s: taken", name);
    ck_assert_msg(config_err.code == LATER_E_CONFIG, "%s: code %d", name, (int)config_err.code);
    ck_assert_msg(strncmp(config_err.text, place, strlen(place)) == 0, "%s: not at %s: %s", name,
                  place, config_err.text);
    ck_assert_msg(strstr(config_err.text, expect) != NULL, "%s: not \"%s\": %s", name, expect,
                  config_err.text);
}

START_TEST(bad_configurations)
{
    const char *top = getenv("top_srcdir");
    char directory[1024];
    struct dirent *entry;
    int count = 0;
    DIR *dir;

    snprintf(directory, sizeof directory, "%s/tests/unit/bad_config", top ? top : ".");
    dir = opendir(directory);
    ck_assert_msg(dir != NULL, "%s: cannot be read", directory);
    while ((entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);

        if (len < 5 || strcmp(entry->d_name + len - 5, ".conf") != 0)
            continue;
        assert_bad(directory, entry->d_name);
        count++;
    }
    closedir(dir);
    ck_assert_int_ge(count, BAD_MIN);
}
END_TEST

static TCase *bad(void)
{
    TCase *tc = tcase_create("bad");

    tcase_add_test(tc, bad_configurations);
    return tc;
}

UNIT_MAIN("config_bad", bad)
