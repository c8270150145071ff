/* test_again.c: a push that is put off again, one that waits for a running job to end, and an id
 * that stays taken from its push. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

static const char *push_as(const char *mode, const char *id, const char *when, const char *priority,
                           const char *document)
{
    return flat(run("push", "0", mode, id, when, priority, document, NULL));
}

static const char *again(const char *id, const char *when, const char *document)
{
    return push_as("again", id, when, "0", document);
}

/* It waits, is due at about that time from now, and has these bytes. */
static void check_due(const char *id, double seconds, const char *document)
{
    ck_assert_double_ge(score("delayed", id), now() + seconds - 1);
    ck_assert_double_le(score("delayed", id), now() + seconds + 0.001);
    ck_assert_str_eq(field("jobs", id), document);
}

AT_START(harness_stand_still());

TEST(each_push_puts_it_off)
{
    ck_assert_str_eq(again("a", "+5", "{1}"), "PUSHED");
    ck_assert_str_eq(again("a", "+50", "{2}"), "REPLACED");
    check_due("a", 50, "{2}");
    ck_assert_str_eq(again("a", "+5", "{3}"), "REPLACED");
    check_due("a", 5, "{3}");
    ck_assert_str_eq(noted("b", "a"), "");
    ck_assert_int_eq(stat_of("replaced"), 2);
    check_sums();
}

TEST(but_not_for_ever)
{
    char first[40];

    ck_assert_str_eq(again("a", "+5/20", "{1}"), "PUSHED");
    check_due("a", 5, "{1}");
    snprintf(first, sizeof first, "%s", noted("b", "a"));
    ck_assert_str_eq(again("a", "+10/20", "{2}"), "REPLACED");
    ck_assert_str_eq(noted("b", "a"), first);
    note("b", "a", text("%.6f", now() - 15)); /* the first one was this long ago */
    ck_assert_str_eq(again("a", "+10/20", "{3}"), "REPLACED");
    check_due("a", 5, "{3}");
    note("b", "a", text("%.6f", now() - 25));
    ck_assert_str_eq(again("a", "+10/20", "{4}"), "REPLACED");
    ck_assert_str_eq(members("ready"), "a"); /* it is time */
    ck_assert_str_eq(field("jobs", "a"), "{4}");
    push("b");
    ck_assert_str_eq(again("a", "+10/20", "{5}"), "REPLACED");
    ck_assert_str_eq(members("ready"), "a b"); /* its turn is by the time at which it was due */
    ck_assert_str_eq(push_as("again", "a", "+10/20", "-3", "{6}"), "REPLACED");
    ck_assert_str_eq(members("ready"), "b a");
    check_sums();
    check_wake();
}

/* A job that has begun is apart from those that wait. */
TEST(an_attempt_ends_the_count)
{
    again("a", "+5/20", "{1}");
    note("b", "a", text("%.6f", now() - 100));
    note("a", "a", "1");
    ck_assert_str_eq(again("a", "+5/20", "{2}"), "REPLACED");
    check_due("a", 5, "{2}");
    note("b", "a", "junk");
    ck_assert_str_eq(again("a", "+5/20", "{3}"), "REPLACED");
    check_due("a", 5, "{3}");
}

TEST_EACH(a_kick_of_a_dead_job_ends_it_too, 2)
{
    again("a", "+0/20", "{1}");
    reserve('t', 1);
    run("bury", mine("a"), "ran", "", NULL);
    note("b", "a", text("%.6f", now() - 100));
    if (_i)
        run("act", "kick", "dead", "", "a", "", NULL);
    else
        run("kick", "a", NULL);
    ck_assert_str_eq(again("a", "+5/20", "{2}"), "REPLACED");
    check_due("a", 5, "{2}");
}

#define ODD "{\"x\":\n \"100% 0A %0A n=5\"}"

/* The last one that came while it ran runs after it, however it ends. */
TEST_EACH(what_runs_runs_again, 3)
{
    static const char *const ends[] = { "ack", "expire", "bury" };

    push("a");
    push("b");
    reserve('t', 2);
    ck_assert_str_eq(push_as("again", "a", "+5", "3", "{1}"), "AGAIN");
    ck_assert_str_eq(push_as("again", "a", "+7", "-4/60@shop", ODD), "AGAIN");
    ck_assert_str_eq(push_as("replace", "a", "", "0", "{2}"), "EXISTS reserved");
    ck_assert_str_eq(field("jobs", "a"), "{\"type\":\"t\"}");
    ck_assert_int_eq(stat_of("pushed"), 2);
    check_sums();
    if (_i == 2)
        run("bury", mine("a"), "ran", "", mine("b"), "ran", "", NULL);
    else
        run(ends[_i], mine("a"), mine("b"), NULL);
    check_due("a", 7, ODD);
    ck_assert_str_eq(noted("p", "a"), "-4");
    ck_assert_str_eq(noted("u", "a"), "60.000000");
    ck_assert_str_eq(noted("q", "a"), "0 shop");
    ck_assert_str_eq(noted("n", "a"), "");
    ck_assert_int_eq(stat_of("pushed"), _i == 2 ? 2 : 3);
    ck_assert_int_eq(stat_of("replaced"), _i == 2);
    ck_assert_int_eq(size_of("dead"), _i == 2);
    check_sums();
}

TEST(a_retry_comes_before_it)
{
    push("a");
    reserve('t', 1);
    again("a", "", "{1}");
    run("release", mine("a"), "0", "ran", "", NULL);
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_str_eq(field("jobs", "a"), "{\"type\":\"t\"}");
    check_sums();
    reserve('u', 1);
    run("ack", member('u', "a"), NULL);
    check_due("a", 0, "{1}");
    check_sums();
}

/* A throttle means at most one job in its time; unique_for counts from the end. */
TEST(a_throttle_keeps_nothing)
{
    push_as("new", "a", "", "0/+60", "{1}");
    push_as("new", "b", "", "0/60", "{1}");
    reserve('t', 2);
    ck_assert_str_eq(again("a", "", "{2}"), "EXISTS reserved");
    ck_assert_str_eq(push_as("again", "a", "", "0/+60", "{2}"), "EXISTS reserved");
    ck_assert_str_eq(again("b", "", "{2}"), "AGAIN");
    note("d", "a", text("%.6f", now() - 1));
    ck_assert_str_eq(again("a", "", "{3}"), "AGAIN");
    check_sums();
}

TEST(a_cancel_is_the_end_of_it)
{
    push("a");
    reserve('t', 1);
    again("a", "", "{1}");
    hold_by("tttttttttttttttt");
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "reserved");
    ck_assert_int_eq(size_of("delayed") + size_of("jobs") + size_of("records"), 0);
    check_sums();
}

/* What waits for the end of what runs is put off in the same way. */
TEST(beside_one_that_runs_not_for_ever_either)
{
    push("a");
    reserve('t', 1);
    again("a", "+10/20", "{1} b=1.5");
    again("a", "+10/20", "{2}");
    run("ack", mine("a"), NULL);
    check_due("a", 10, "{2}");
    ck_assert_double_le(strtod(noted("b", "a"), NULL), now());
    ck_assert_double_ge(strtod(noted("b", "a"), NULL), now() - 1);
}

TEST(an_unknown_id_is_sought)
{
    ck_assert_str_eq(push_as("seek-again", "a", "", "0", "{1}"), "ABSENT");
    push("a");
    reserve('t', 1);
    ck_assert_str_eq(push_as("seek-again", "a", "", "0", "{1}"), "AGAIN");
    ck_assert_str_eq(push_as("seek", "a", "", "0", "{1}"), "EXISTS reserved");
}

TEST(an_id_stays_taken_from_its_push)
{
    double before = now();

    push_as("new", "a", "", "0/+60", "{1}");
    push_as("new", "b", "", "0/+0.001", "{1}");
    reserve('t', 2);
    server_advance(&harness_server, 0.01);
    run("ack", mine("a"), mine("b"), NULL);
    ck_assert_str_eq(push_as("new", "a", "", "0", "{2}"), "EXISTS ended");
    ck_assert_double_ge(score("unique", "a"), before + 60 - 1e-6);
    ck_assert_double_le(score("unique", "a"), now() + 60 - 0.005); /* not from its end */
    ck_assert_str_eq(push_as("new", "b", "", "0", "{2}"), "PUSHED");
    check_sums();
}

TEST(what_is_refused_changes_nothing)
{
    static const char *const whens[] = { "5/6", "+5/", "+5/x", "+/5", "+5/-1", "/5", "+5/6/7" };
    uint64_t before;

    push("a");
    before = digest();
    for (size_t i = 0; i < sizeof whens / sizeof *whens; i++)
        run_error("push", "0", "again", "a", whens[i], "0", "{1}", NULL);
    run_error("push", "0", "seek-new", "a", "", "0", "{1}", NULL);
    run_error("push", "0", "new", "a", "", "0/+", "{1}", NULL);
    run_error("push", "0", "new", "a", "", "0/++5", "{1}", NULL);
    ck_assert_uint_eq(digest(), before);
}
