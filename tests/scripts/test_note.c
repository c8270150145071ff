/* test_note.c: what laterds have counted in a period: written twice, gone meanwhile, folded. */
#include "harness.h"

#include <string.h>

#define PERIOD "later:{q}:minute:1"

static const char *period(void)
{
    return flat(ask("HGETALL " PERIOD));
}

TEST(a_repetition_changes_nothing)
{
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(run("note", "h:1", "five", "60000", "0", NULL)->integer, 1);
    ck_assert_str_eq(period(), "h:1 five");
    ck_assert_int_eq(run("note", "h:2", "", "60000", "0", NULL)->integer, 1);
    ck_assert_int_eq(run("note", "h:1", "six", "60000", "1", NULL)->integer, 1);
    ck_assert_str_eq(flat(ask("HMGET " PERIOD " h:1 h:2")), "six ");
}

TEST(it_is_forgotten_in_time)
{
    run("note", "h:1", "five", "60000", "0", NULL);
    ck_assert_int_gt(ask("PTTL " PERIOD)->integer, 50000);
    ck_assert_int_le(ask("PTTL " PERIOD)->integer, 60000);
    run("note", "h:1", "six", "70000", "0", NULL);
    ck_assert_int_gt(ask("PTTL " PERIOD)->integer, 60000);
    ask("DEL " PERIOD);
    run("note", "h:1", "five", "0", "0", NULL); /* the totals: for ever */
    ck_assert_int_eq(ask("PTTL " PERIOD)->integer, -1);
}

TEST(who_was_counted_elsewhere_hears_of_it)
{
    ask("HSET " PERIOD " all 9");
    ck_assert_int_eq(run("note", "h:1", "five", "60000", "1", NULL)->integer, 0);
    ck_assert_str_eq(period(), "all 9");
    ck_assert_int_eq(ask("PTTL " PERIOD)->integer, -1);
}

TEST(folds_what_is_as_it_was)
{
    ask("HSET " PERIOD " h:1 1 h:2 2 h:3 3");
    ck_assert_int_eq(
        run("note", "all", "6", "60000", "0", "h:1", "1", "h:2", "2", "h:3", "2", NULL)->integer,
        0);
    ck_assert_str_eq(period(), "h:1 1 h:2 2 h:3 3");
    ck_assert_int_eq(run("note", "all", "3", "60000", "0", "h:1", "1", "h:2", "2", NULL)->integer,
                     1);
    ck_assert_str_eq(period(), "h:3 3 all 3");
    ck_assert_int_eq(/* the same call again: they are gone */
                     run("note", "all", "3", "60000", "0", "h:1", "1", "h:2", "2", NULL)->integer,
                     0);
    ck_assert_int_eq(/* who has read the `all` of before */
                     run("note", "all", "5", "60000", "0", "all", "2", "h:3", "3", NULL)->integer,
                     0);
    ck_assert_int_eq(run("note", "all", "6", "60000", "0", "all", "3", "h:3", "3", NULL)->integer,
                     1);
    ck_assert_str_eq(period(), "all 6");
    ck_assert_int_gt(ask("PTTL " PERIOD)->integer, 50000);
}

TEST(refuses_what_is_none)
{
    char large[1048578];

    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    run_error("note", "h:1", "five", "-1", "0", NULL);
    run_error("note", "h:1", "five", "1.5", "0", NULL);
    run_error("note", "h:1", "five", "x", "0", NULL);
    run_error("note", "h:1", large, "60000", "0", NULL);
    ck_assert_int_eq(ask("EXISTS " PERIOD)->integer, 0);
    ask("SET " PERIOD " foreign");
    run_error("note", "h:1", "five", "60000", "0", NULL);
    ck_assert_str_eq(ask("GET " PERIOD)->str, "foreign");
}
