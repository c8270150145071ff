/* test_retry.c: release and return: how a job that was reserved comes back. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"smtp: no \\u00e4\",\"host\":\"h1\"}"

/* Push and reserve ids (letters) under the token t. */
static void hold(const char *ids)
{
    for (; *ids; ids++)
        push(text("%c", *ids));
    reserve('t', 500);
}

static const char *mine(const char *id)
{
    return member('t', id);
}

START_TEST(released_without_wait_is_ready)
{
    double before;

    hold("a");
    note("p", "a", "7");
    note("i", "a", "3");
    before = now();
    run("release", mine("a"), "0", "ran", ERROR, NULL);
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_double_ge(score("ready", "a"), before - 7e6);
    ck_assert_double_le(score("ready", "a"), now() - 7e6 + 0.000001);
    ck_assert_int_eq(size_of("reserved") + size_of("delayed") + size_of("dead"), 0);
    ck_assert_str_eq(noted("a", "a"), "1");
    ck_assert_str_eq(noted("i", "a"), "");
    ck_assert_int_eq(stat_of("released"), 1);
    check_sums();
    check_wake();
}
END_TEST

START_TEST(released_with_a_wait_is_delayed)
{
    double before;

    hold("a");
    note("p", "a", "7");
    before = now();
    run("release", mine("a"), "12.5", "ran", "", NULL);
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_double_ge(score("delayed", "a"), before + 12.5);
    ck_assert_double_le(score("delayed", "a"), now() + 12.5);
    ck_assert_str_eq(noted("p", "a"), "7");
    ck_assert_int_eq(size_of("ready") + size_of("reserved"), 0);
    check_sums();
    check_wake();
}
END_TEST

START_TEST(released_together_keep_their_order)
{
    hold("abcd");
    run("release", mine("c"), "0", "ran", "", mine("a"), "0", "ran", "", mine("d"), "0", "ran", "",
        NULL);
    push("e");
    ck_assert_str_eq(members("ready"), "c a d e");
}
END_TEST

START_TEST(the_last_error_is_kept)
{
    double before = now();

    hold("a");
    run("release", mine("a"), "0", "ran", "\"kind\":\"timeout\",\"text\":\"\",\"host\":\"h\"}",
        NULL);
    check_error("a", 1, before, "\"kind\":\"timeout\",\"text\":\"\",\"host\":\"h\"}");
    reserve('t', 1);
    before = now();
    run("release", mine("a"), "0", "ran", ERROR, NULL);
    check_error("a", 2, before, ERROR);
    reserve('t', 1);
    run("release", mine("a"), "0", "ran", "", NULL); /* tells none: the one before stays */
    check_error("a", 2, before, ERROR);
    ck_assert_str_eq(noted("a", "a"), "3");
    reserve('t', 1);
    run("bury", mine("a"), "ran", ERROR, NULL);
    check_error("a", 4, before, ERROR);
}
END_TEST

START_TEST(crashes_are_counted_beside_attempts)
{
    hold("a");
    run("release", mine("a"), "0", "crashed", ERROR, NULL);
    ck_assert_str_eq(noted("c", "a"), "1");
    reserve('t', 1);
    run("release", mine("a"), "0", "ran", ERROR, NULL); /* one that failed is no crash */
    ck_assert_str_eq(noted("c", "a"), "1");
    reserve('t', 1);
    run("bury", mine("a"), "crashed", ERROR, NULL);
    ck_assert_str_eq(noted("c", "a"), "2");
    ck_assert_str_eq(noted("a", "a"), "3");
}
END_TEST

START_TEST(a_suspect_that_ran_is_none_any_more)
{
    hold("ab");
    run("return", mine("a"), "0", "suspect", mine("b"), "0", "suspect", NULL);
    ck_assert_str_eq(noted("c", "a"), "0");
    ck_assert_str_eq(noted("a", "a"), "");
    reserve('t', 2);
    run("release", mine("a"), "0", "ran", "", mine("b"), "0", "crashed", "", NULL);
    ck_assert_str_eq(noted("c", "a"), "");
    ck_assert_str_eq(noted("c", "b"), "1");
    reserve('t', 2);
    run("return", mine("b"), "0", "suspect", NULL); /* its crash is not forgotten */
    ck_assert_str_eq(noted("c", "b"), "1");
}
END_TEST

START_TEST(returned_goes_back_to_its_place)
{
    const char *scores[3];

    push("a");
    push_priority("b", 5);
    push("c");
    for (size_t i = 0; i < 3; i++)
        scores[i] = score_text("ready", text("%c", (int)('a' + i)));
    reserve('t', 3);
    push("d");
    run("return", mine("c"), "0", "held", mine("a"), "0", "held", mine("b"), "0", "held", NULL);
    ck_assert_str_eq(members("ready"), "b a c d");
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(score_text("ready", text("%c", (int)('a' + i))), scores[i]);
    ck_assert_int_eq(how_many("a") + how_many("c") + how_many("e"), 0);
    ck_assert_int_eq(stat_of("returned"), 3);
    check_sums();
    check_wake();
}
END_TEST

START_TEST(returned_with_a_wait_is_delayed)
{
    double before;

    hold("a");
    before = now();
    run("return", mine("a"), "0.5", "held", NULL);
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_double_ge(score("delayed", "a"), before + 0.5);
    ck_assert_double_le(score("delayed", "a"), now() + 0.5);
    ck_assert_int_eq(how_many("a"), 0);
    check_sums();
    check_wake();
}
END_TEST

/* Why a handler gave it back stays with it; its attempts do too. */
START_TEST(returned_with_a_reason)
{
    hold("a");
    run("return", mine("a"), "0.5", "\"kind\":\"return\",\"text\":\"busy\",\"host\":\"h\"}", NULL);
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_ptr_nonnull(
        strstr(noted("e", "a"), "\"attempt\":0,\"kind\":\"return\",\"text\":\"busy\""));
    ck_assert_str_eq(noted("a", "a"), "");
    check_sums();
}
END_TEST

START_TEST(the_tenth_interruption_is_an_attempt)
{
    push("a");
    for (int i = 1; i <= 20; i++) {
        reserve('t', 1);
        run("return", mine("a"), "0", "interrupted", NULL);
        ck_assert_int_eq(atoi(noted("a", "a")), i / 10);
        ck_assert_int_eq(atoi(noted("i", "a")), i % 10);
    }
    reserve('t', 1);
    run("return", mine("a"), "0", "interrupted", NULL);
    reserve('t', 1);
    run("release", mine("a"), "0", "ran", "", NULL); /* no longer in a row */
    ck_assert_str_eq(noted("i", "a"), "");
    ck_assert_str_eq(noted("a", "a"), "3");
    check_sums();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        released_without_wait_is_ready,       released_with_a_wait_is_delayed,
        released_together_keep_their_order,   the_last_error_is_kept,
        crashes_are_counted_beside_attempts,  a_suspect_that_ran_is_none_any_more,
        returned_goes_back_to_its_place,      returned_with_a_wait_is_delayed,
        returned_goes_back_to_its_place,      returned_with_a_reason,
        the_tenth_interruption_is_an_attempt, NULL,
    };

    return harness_main("retry", tests);
}
