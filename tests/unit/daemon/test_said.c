/* test_said.c: what programs say of their types. */
#include "worker/said.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct said *said;
static struct later_error err;

static int takes(const char *name, const char *json)
{
    return said_take(said, name, json, strlen(json), &err);
}

static void said_setup(void)
{
    said = said_new();
    ck_assert_ptr_nonnull(said);
}

static void said_teardown(void)
{
    said_free(said);
}

CASE("words", said_setup, said_teardown);

TEST(test_exact_before_longest_beginning)
{
    ck_assert_ptr_null(said_find(said, "mail"));
    ck_assert_int_eq(takes("mail.*", "{\"name\":\"mail.*\",\"max_attempts\":2}"), 0);
    ck_assert_int_eq(takes("mail.news.*", "{\"max_attempts\":3,\"backoff\":[1,5]}"), 0);
    ck_assert_int_eq(takes("mail.news.daily", "{\"max_attempts\":4}"), 0);
    ck_assert_uint_eq(said_find(said, "mail.send")->max_attempts, 2);
    ck_assert_uint_eq(said_find(said, "mail.news.weekly")->max_attempts, 3);
    ck_assert_double_eq(said_find(said, "mail.news.weekly")->backoff.list[1], 5);
    ck_assert_uint_eq(said_find(said, "mail.news.daily")->max_attempts, 4);
    ck_assert_ptr_null(said_find(said, "mail"));
    ck_assert_ptr_null(said_find(NULL, "mail.send"));
}

TEST(test_said_again)
{
    ck_assert_int_eq(takes("a", "{\"max_attempts\":2}"), 0);
    ck_assert_int_eq(takes("a", "{ }"), 0);
    ck_assert_uint_eq(said_find(said, "a")->max_attempts, 0);
}

/* What is needed before the program is there, or is a job's own, is not kept. */
TEST(test_left_out)
{
    ck_assert_int_eq(takes("a", "{\"max_attempts\":2,\"timeout\":5,\"payload\":[1]}"), 0);
    ck_assert_uint_eq(said_find(said, "a")->max_attempts, 2);
    ck_assert_double_eq(said_find(said, "a")->timeout, 0);
    ck_assert_ptr_null(said_find(said, "a")->payload);
}

/* Members that are wrong are refused as in a document, and nothing changes. */
TEST(test_refused)
{
    static const char *const wrong[] = { "",
                                         "[]",
                                         "{",
                                         "{\"max_attempts\":0}",
                                         "{\"max_attempts\":\"3\"}",
                                         "{\"backoff\":-1}",
                                         "{\"type\":\"other\"}" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(takes("a", wrong[i]) < 0, "%s", wrong[i]);
        ck_assert_int_eq(err.code, LATER_E_DATA);
    }
    ck_assert_int_lt(takes("a\"b", "{\"max_attempts\":3}"), 0);
    ck_assert_int_lt(takes("*", "{\"max_attempts\":3}"), 0);
    ck_assert_int_lt(takes("a*b", "{\"max_attempts\":3}"), 0);
    ck_assert_ptr_null(said_find(said, "a"));
}

TEST(test_bounded)
{
    char name[16];

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "t%d", i);
        ck_assert_int_eq(takes(name, "{\"max_attempts\":3}"), 0);
    }
    ck_assert_int_lt(takes("one.more", "{\"max_attempts\":3}"), 0);
    ck_assert_int_eq(err.code, LATER_E_LATER);
    ck_assert_int_eq(takes("t7", "{\"max_attempts\":9}"), 0);
    ck_assert_uint_eq(said_find(said, "t7")->max_attempts, 9);
}
