/* test_retry.c: release and return: how a reserved job comes back. */
#include "harness.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"smtp: no \\u00e4\",\"host\":\"h1\"}"

TEST(released_without_wait_is_ready)
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

TEST(released_with_a_wait_is_delayed)
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

TEST(released_together_keep_their_order)
{
    hold("abcd");
    run("release", mine("c"), "0", "ran", "", mine("a"), "0", "ran", "", mine("d"), "0", "ran", "",
        NULL);
    push("e");
    ck_assert_str_eq(members("ready"), "c a d e");
}

TEST(the_last_error_is_kept)
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

/* ---- the errors before the last one */

/* Tag `h` of a job: its errors, for the caller to free. */
static json_t *earlier(const char *id)
{
    const char *list = noted("h", id);
    json_t *errors = json_loads(list, JSON_REJECT_DUPLICATES, NULL);

    ck_assert_uint_le(strlen(list), 1000);
    ck_assert_msg(json_is_array(errors), "%s", list);
    return errors;
}

/* One more attempt of a job fails. */
static void fails(const char *id, const char *tail)
{
    run("release", mine(id), "0", "ran", tail, NULL);
    reserve('t', 1);
}

/* Its error number i (0 is the newest): which attempt, and its text; "-": as the one after it. */
static void check_earlier(const char *id, size_t i, json_int_t attempt, const char *words)
{
    json_t *errors = earlier(id), *error = json_array_get(errors, i), *why;

    ck_assert_int_eq(json_integer_value(json_object_get(error, "attempt")), attempt);
    ck_assert_double_gt(json_number_value(json_object_get(error, "at")), 1e9);
    why = json_object_get(error, "text");
    ck_assert_str_eq(why ? json_string_value(why) : "-", words);
    json_decref(errors);
}

#define WHY(text) "\"kind\":\"retry\",\"text\":\"" text "\",\"host\":\"h\"}"

TEST(errors_before_the_last_are_kept)
{
    json_t *errors;

    hold("a");
    fails("a", WHY("one"));
    ck_assert_str_eq(noted("h", "a"), "");
    fails("a", "\"kind\":\"retry\",\"text\":\"two\",\"host\":\"h\",\"ms\":12.500}");
    fails("a", "\"kind\":\"retry\",\"text\":\"two\",\"host\":\"h\",\"ms\":7.250}");
    fails("a", ""); /* tells none */
    fails("a", WHY("five"));
    check_earlier("a", 0, 3, "two");
    check_earlier("a", 1, 2, "-");
    check_earlier("a", 2, 1, "one");
    errors = earlier("a");
    ck_assert_uint_eq(json_array_size(errors), 3);
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(errors, 0), "ms")), 7.25);
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(errors, 1), "ms")), 12.5);
    json_decref(errors);
    run("bury", mine("a"), "ran", WHY("six"), NULL);
    check_earlier("a", 0, 5, "five");
    run("kick", "a", NULL);
    check_earlier("a", 0, 5, "five");
    reserve('t', 1);
    make_due("reserved");
    lapse("\"kind\":\"lapse\",\"text\":\"late\",\"host\":\"h\"}");
    check_earlier("a", 0, 6, "six");
    reserve('t', 1);
    run("ack", mine("a"), NULL);
    ck_assert_int_eq(size_of("records"), 0);
}

TEST(errors_that_come_again_and_again_are_not_kept)
{
    hold("a");
    fails("a", WHY("one"));
    for (int i = 0; i < 3; i++) {
        run("return", mine("a"), "0", "\"kind\":\"return\",\"text\":\"one\",\"host\":\"h\"}", NULL);
        reserve('t', 1);
        check_earlier("a", 0, 1, "one");
    }
    run("return", mine("a"), "0", "unknown", NULL);
    reserve('t', 1);
    fails("a", WHY("one"));
    fails("a", WHY("one"));
    check_earlier("a", 0, 2, "-");
    check_earlier("a", 1, 1, "one");
}

TEST(errors_that_are_kept_are_bounded)
{
    json_t *errors;
    char tail[300];

    hold("a");
    for (int i = 1; i <= 60; i++) {
        snprintf(tail, sizeof tail,
                 "\"kind\":\"retry\",\"text\":\"%02d },{\\\"at\\\": %0100d\",\"host\":\"h\"}", i,
                 7);
        fails("a", tail);
    }
    errors = earlier("a");
    ck_assert_uint_ge(json_array_size(errors), 4);
    json_decref(errors);
    for (json_int_t i = 0; i < 4; i++) {
        snprintf(tail, sizeof tail, "%02d },{\"at\": %0100d", 59 - (int)i, 7);
        check_earlier("a", (size_t)i, 59 - i, tail);
    }
    for (int i = 0; i < 60; i++)
        fails("a", WHY("the same"));
    errors = earlier("a");
    ck_assert_uint_ge(json_array_size(errors), 15);
    json_decref(errors);
    check_earlier("a", 14, 105, "-");
}

/* The text of an error, and what is kept of it once it is no longer the last. */
static const struct {
    const char *tail, *kept;
} forms[] = {
    { WHY("first\\nsecond"), "first" },
    { WHY("first\\u000Asecond"), "first" },
    { WHY("back\\\\nslash \\\"x\\\" \\u0041"), "back\\nslash \"x\" A" },
    { WHY("a\",\"host\":\"b"), "a" }, /* no JSON of ours */
    { "\"kind\":\"retry\",\"more\":[{},{\"at\":1}],\"text\":\"x\",\"host\":\"h\"}", "" },
    { "\"text\":\"x\"}", "" },
    { "\"kind\":\"retry\",\"text\":\"x\", \"host\":\"h\"}", "" },
};

TEST(of_an_error_that_is_kept_one_line_is)
{
    json_int_t n = 0;

    hold("a");
    for (; n < (json_int_t)(sizeof forms / sizeof *forms); n++) {
        fails("a", forms[n].tail);
        fails("a", WHY("last"));
        check_earlier("a", 0, 2 * n + 1, forms[n].kept);
    }
    fails("a", "what is this"); /* no error of ours is not kept at all */
    fails("a", WHY("last"));
    check_earlier("a", 0, 2 * n, "last");
}

TEST(a_long_error_is_cut_at_the_end_of_a_character)
{
    static const struct {
        const char *unit;
        size_t bytes; /* of JSON, and of text */
        size_t len;
    } units[] = { { "x", 1, 1 },
                  { "\xc3\xa4", 2, 2 },
                  { "\xe2\x82\xac", 3, 3 },
                  { "\xf0\x9f\x98\x80", 4, 4 },
                  { "\\u20ac", 6, 3 },
                  { "\\ud83d\\ude00", 12, 4 },
                  { "\\t", 2, 1 } };
    char tail[2000];

    hold("a");
    for (size_t n = 0; n < 3 * sizeof units / sizeof *units; n++) {
        size_t u = n / 3, shift = n % 3;
        size_t used = (size_t)snprintf(tail, sizeof tail, "\"kind\":\"retry\",\"text\":\"%.*s",
                                       (int)shift, "zz");
        json_t *errors;

        for (size_t i = 0; i < 130; i++)
            used += (size_t)snprintf(tail + used, sizeof tail - used, "%s", units[u].unit);
        snprintf(tail + used, sizeof tail - used, "\",\"host\":\"h\"}");
        fails("a", tail);
        fails("a", WHY("last"));
        errors = earlier("a");
        ck_assert_uint_eq(json_string_length(json_object_get(json_array_get(errors, 0), "text")),
                          shift + (120 - shift) / units[u].bytes * units[u].len);
        json_decref(errors);
    }
}

TEST(crashes_are_counted_beside_attempts)
{
    hold("a");
    run("release", mine("a"), "0", "crashed", ERROR, NULL);
    ck_assert_str_eq(noted("c", "a"), "1");
    reserve('t', 1);
    run("release", mine("a"), "0", "ran", ERROR, NULL); /* a job that failed did not crash */
    ck_assert_str_eq(noted("c", "a"), "1");
    reserve('t', 1);
    run("bury", mine("a"), "crashed", ERROR, NULL);
    ck_assert_str_eq(noted("c", "a"), "2");
    ck_assert_str_eq(noted("a", "a"), "3");
}

/* Only of one whose retries end by time, once, and until it is kicked. */
TEST(the_first_failure_is_noted)
{
    char first[40];

    hold("a");
    run("release", mine("a"), "0", "ran", ERROR, NULL);
    ck_assert_str_eq(noted("r", "a"), "");
    reserve('t', 1);
    run("release", mine("a"), "0", "crashed+", ERROR, NULL);
    ck_assert_str_eq(noted("c", "a"), "1");
    snprintf(first, sizeof first, "%s", noted("r", "a"));
    ck_assert_double_gt(atof(first), 1e9);
    reserve('t', 1);
    run("release", mine("a"), "0", "ran+", ERROR, NULL);
    ck_assert_str_eq(noted("r", "a"), first);
    ck_assert_str_eq(noted("a", "a"), "3");
    reserve('t', 1);
    run("bury", mine("a"), "ran", ERROR, NULL);
    ck_assert_str_eq(noted("r", "a"), first);
    run("kick", "a", NULL);
    ck_assert_str_eq(noted("r", "a"), "");
}

TEST(a_suspect_that_ran_is_none_any_more)
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

TEST(returned_goes_back_to_its_place)
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

TEST(returned_with_a_wait_is_delayed)
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

/* Why a handler gave it back stays with it; its attempts do too. */
TEST(returned_with_a_reason)
{
    hold("a");
    run("return", mine("a"), "0.5", "\"kind\":\"return\",\"text\":\"busy\",\"host\":\"h\"}", NULL);
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_ptr_nonnull(
        strstr(noted("e", "a"), "\"attempt\":0,\"kind\":\"return\",\"text\":\"busy\""));
    ck_assert_str_eq(noted("a", "a"), "");
    check_sums();
}

TEST(the_tenth_interruption_is_an_attempt)
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
