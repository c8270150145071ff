/* test_web_acts.c: what was done is listed, the latest first, with how it ended; the oldest are
 * forgotten; with a file they outlive the program. */
#include "tasks/acts.h"
#include "tests/unit/config_files.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static void is(const struct acts *acts, const char *wanted)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    ck_assert_ptr_nonnull(out);
    acts_write(acts, out);
    fclose(out);
    ck_assert_str_eq(text, wanted);
    free(text);
}

static void tell(struct acts *acts, unsigned long number, const char *line)
{
    acts_tell(acts, number, line, strlen(line));
}

static unsigned long begin(struct acts *acts, const char *who, const char *command, double now)
{
    struct act_news news = {
        .who = who, .command = command, .path = "kick-matching", .many = true
    };

    return acts_begin(acts, &news, now);
}

#define FIRST                                                                                      \
    "{\"number\":1,\"who\":\"user 0\",\"command\":\"later kick \\\"a\\\"\",\"path\":\"kick-"       \
    "matching\",\"queue\":null,\"many\":true,\"began\":100,\"ended\":"

CASE("acts", config_files_begin, config_files_end);

TEST(from_begin_to_end)
{
    struct act_news look = {
        .who = "user 1", .command = "later pause q", .path = "pause", .queue = "q"
    };
    struct acts *acts = acts_new(NULL, NULL);

    is(acts, "[]");
    ck_assert_uint_eq(begin(acts, "user 0", "later kick \"a\"", 100), 1);
    is(acts, "[" FIRST "null,\"progress\":null,\"answers\":[]}]");
    tell(acts, 1, "{\"searched\":9,\"of\":9,\"found\":3}");
    tell(acts, 1, "{\"acted\":2,\"of\":3}");
    tell(acts, 1, "{\"queue\":\"q\",\"kicked\":2}");
    tell(acts, 1, "plain words");
    tell(acts, 1, "{\"queue\":\"r\",\"kicked\":1}");
    tell(acts, 2, "{\"acted\":1,\"of\":1}"); /* there is none */
    tell(acts, 0, "{\"acted\":1,\"of\":1}");
    ck_assert_uint_eq(acts_begin(acts, &look, 101), 2);
    acts_end(acts, 1, "\"status\":0,\"words\":\"\"}", 102);
    tell(acts, 1, "{\"acted\":3,\"of\":3}"); /* it has ended */
    is(acts, "[{\"number\":2,\"who\":\"user 1\",\"command\":\"later pause q\",\"path\":\"pause\","
             "\"queue\":\"q\",\"many\":false,\"began\":101,\"ended\":null,\"progress\":null,"
             "\"answers\":[]}," FIRST "102,\"progress\":{\"acted\":2,\"of\":3},"
             "\"answers\":[{\"queue\":\"q\",\"kicked\":2},{\"queue\":\"r\",\"kicked\":1}],"
             "\"status\":0,\"words\":\"\"}]");
    acts_free(acts);
}

static void spoil(const char *path, long at)
{
    FILE *out = fopen(path, "r+");

    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(fseek(out, at, SEEK_SET), 0);
    fputs("\"", out);
    fclose(out);
}

TEST(they_are_kept)
{
    const char *path = config_path("acts");
    struct later_error err;
    struct acts *acts = acts_new(path, &err);

    ck_assert_ptr_nonnull(acts);
    ck_assert_ptr_null(acts_new(path, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "another later-web has it"));
    begin(acts, "user 0", "later kick \"a\"", 100);
    acts_end(acts, 1, "\"status\":0,\"words\":\"\"}", 102);
    begin(acts, "user 0", "later kick b", 103);
    tell(acts, 2, "{\"acted\":2,\"of\":3}");
    begin(acts, "user 0", "later kick c", 104);
    acts_end(acts, 3, "\"status\":0,\"words\":\"\"}", 105);
    acts_free(acts);
    spoil(path, 3L * ACT_ROW + 20); /* as after a loss of power */

    for (int i = 0; i < 2; i++) {
        acts = acts_new(path, &err);
        is(acts, "[{\"number\":2,\"who\":\"user 0\",\"command\":\"later kick b\",\"path\":\"kick-"
                 "matching\",\"queue\":null,\"many\":true,\"began\":103,\"ended\":null,"
                 "\"progress\":{\"acted\":2,\"of\":3},\"answers\":[],\"status\":71,"
                 "\"words\":\"later-web ended in the middle of it\"}," FIRST
                 "102,\"progress\":null,\"answers\":[],\"status\":0,\"words\":\"\"}]");
        acts_free(acts);
    }
    acts = acts_new(path, &err);
    ck_assert_uint_eq(begin(acts, "user 0", "later kick", 106), 3);
    acts_free(acts);

    spoil(path, (long)ACTS_KEPT * ACT_ROW); /* it has another length */
    ck_assert_ptr_null(acts_new(path, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "this is not a file of tasks"));
}

/* Without a bound, a busy operator would fill the memory. Each fits into its row. */
TEST(bounds)
{
    static const char *const letters[] = { "x", "\\", "\x01", "ü", "\xff" };
    const char *path = config_path("acts");
    struct later_error err;
    struct acts *acts = acts_new(path, &err);
    char long_command[20001], long_line[3000], long_rest[3000], *text = NULL;
    size_t len, count = 0;
    FILE *out;

    snprintf(long_line, sizeof long_line, "{\"text\":\"%02000d\"}", 0);
    snprintf(long_rest, sizeof long_rest, "\"status\":75,\"words\":\"%02000d\"}", 0);
    for (unsigned long i = 1; i <= 3 * ACTS_KEPT; i++) {
        const char *letter = letters[i % 5];

        for (size_t at = 0; at < sizeof long_command - 2; at += strlen(letter))
            strcpy(long_command + at, letter);
        ck_assert_uint_eq(begin(acts, "somebody", long_command, 1), i);
        for (int n = 0; n < 100; n++)
            tell(acts, i, "{\"queue\":\"q\",\"kicked\":1}");
        tell(acts, i, long_line);
        acts_end(acts, i, i % 2 ? long_rest : "\"status\":0,\"words\":\"\"}", 2);
    }
    tell(acts, 1, "{\"acted\":7,\"of\":7}"); /* it is forgotten */
    acts_end(acts, 1, "\"status\":7,\"words\":\"\"}", 2);
    acts_free(acts);

    acts = acts_new(path, &err);
    out = open_memstream(&text, &len);
    acts_write(acts, out);
    fclose(out);
    for (const char *at = text; (at = strstr(at, "\"number\":")); at++)
        count++;
    ck_assert_uint_eq(count, ACTS_KEPT);
    ck_assert_uint_lt(len, (size_t)ACTS_KEPT * ACT_ROW);
    ck_assert_ptr_null(strstr(text, "\"status\":7,"));
    ck_assert_ptr_nonnull(strstr(text, "\"status\":75,\"words\":\"…\"}"));
    ck_assert_ptr_null(strstr(text, "\"of\":7"));
    free(text);
    acts_free(acts);
}
