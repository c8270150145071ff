/* test_flow_known.c: jobs that a flow_push finds there: of another flow, of this one, which is
 * pushed again or added to, or somebody else's.
 */
#include "flow.h"

TEST(pushed_again_adds_what_is_missing)
{
    flow("0");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    done("a");
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready EXISTS done");
    check_sums();
    done("b");
    done("c");
    flow("1");
    job("b", "a", "done");
    ck_assert_str_eq(pushed(), "EXISTS done");
    ck_assert_int_eq(stat_of("pushed"), 3);
}

TEST(closed_but_for_those_inside)
{
    flow("1");
    job("a", "", "done");
    pushed();
    flow("0");
    job("b", "", "done");
    ck_assert_str_eq(pushed(), "CLOSED");
    flow_by("f", "a", "0");
    job("b", "a", "done");
    ck_assert_str_eq(pushed(), "WAITING");
    done("a");
    flow_by("f", "a", "0");
    job("c", "", "done");
    ck_assert_str_eq(pushed(), "CLOSED");
    done("b");
}

TEST(named_twice_it_counts_once)
{
    push("a");
    flow("1");
    job_as("a", "", "", "", "0");
    job_as("b", "", "", "", "0");
    job_as("a", "", "", "", "0");
    job_as("b", "", "", "", "0");
    ck_assert_str_eq(pushed(), "EXISTS ready PUSHED EXISTS ready EXISTS ready");
    ck_assert_int_eq(count_of_flow("total"), 2);
    check_sums();
    done("a");
    done("b");
    ck_assert_double_lt(score("flows", "f"), now() + 61);
}

TEST(a_job_that_was_there_belongs_to_both)
{
    push("a");
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready");
    flow_by("g", "", "1");
    job("c", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready");
    ck_assert_str_eq(noted("f", "a"), "f g");
    done("a");
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "b c");
    check_sums();
}

/* Pushes job d, which waits in flow f, for flow g as well, and there w, which waits for d. */
static void push_d_for_g(const char *when)
{
    flow_by("g", "", "1");
    job("d", "", "done");
    job("w", "d", when);
    ck_assert_str_eq(pushed(), "EXISTS waiting WAITING");
    check_sums();
}

TEST(one_that_waits_in_another_flow)
{
    flow("1");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    push_d_for_g("done");
    ck_assert_str_eq(members("waiting"), "d w");
    done("a");
    ck_assert_str_eq(field("flow:g", "open"), "1");
    done("d");
    done("w");
    ck_assert_str_eq(field("flow:g", "done"), "2");
    check_sums();
}

/* In the second flow it has no step; what it names there does not matter, since it is as it was. */
TEST(one_without_a_step_that_waits_in_another_flow)
{
    flow("1");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    flow_by("g", "", "1");
    job_as("d", "", "x", "", "0");
    job("x", "", "done");
    ck_assert_str_eq(pushed(), "EXISTS waiting PUSHED");
    done("a");
    done("x");
    done("d");
    ck_assert_str_eq(field("flow:g", "done"), "2");
    check_sums();
}

TEST(one_that_another_flow_buries)
{
    flow("1");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    push_d_for_g("failed");
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "ready");
    ck_assert_str_eq(members("dead"), "d");
    ck_assert_str_eq(field("flow:g", "dead"), "1");
    done("w");
    check_sums();
}

TEST(one_that_another_flow_does_not_need)
{
    flow("1");
    job("d", "a", "failed");
    job("a", "", "done");
    pushed();
    push_d_for_g("ended");
    done("a");
    ck_assert_str_eq(field("flow:g", "skipped"), "1");
    done("w");
    ck_assert_double_lt(score("flows", "g"), now() + 61); /* it has ended */
    check_sums();
}

/* What did not fit is pushed by the same call again, and the flow is closed then. */
TEST(a_full_queue_leaves_it_open)
{
    ask("HSET later:{q}:stats max_jobs 2");
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING WAITING FULL");
    ck_assert_str_eq(members("waiting"), "c b");
    ck_assert_str_eq(field("flow:f", "closed"), "0");
    ask("HSET later:{q}:stats max_jobs 3");
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "EXISTS waiting EXISTS waiting PUSHED");
    ck_assert_str_eq(field("flow:f", "closed"), "1");
    done("a");
    done("b");
    done("c");
    check_sums();
}

/* Somebody has put a job that waits into `ready` by hand. */
TEST(one_that_a_plain_zadd_names)
{
    push_pair();
    ask("ZADD later:{q}:ready 1 b");
    done("b");
    ck_assert_int_eq(size_of("waiting"), 0);
    done("a");
    ck_assert_int_eq(count_of_flow("done"), 2);
    check_sums();
}

TEST(a_replaced_one_is_still_of_the_flow)
{
    push_pair();
    ck_assert_str_eq(flat(run("push", "0", "replace", "a", "", "5", "{}", NULL)), "REPLACED");
    done("a");
    done("b");
    check_sums();
}

TEST(told_twice_counts_once)
{
    flow("1");
    job("over", "*", "ended");
    job("a", "", "done");
    pushed();
    done("a");
    push("a"); /* another job of this id: none of the flow's */
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "over a");
    run("cancel", "a", NULL);
    ck_assert_int_eq(count_of_flow("done"), 1);
    ck_assert_int_eq(count_of_flow("gone"), 0);
}

TEST(an_old_name_is_free_again)
{
    flow("1");
    job("a", "", "done");
    pushed();
    done("a");
    flow("1");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "EXISTS done");
    ask("ZADD %s 1 f", key("flows"));
    flow("1");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "PUSHED");
    ck_assert_int_eq(count_of_flow("done"), 0);
    check_sums();
}
