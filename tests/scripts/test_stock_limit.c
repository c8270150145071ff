/* test_stock_limit.c: stock_set stock_claim stock_release stock_show, limit_fixed limit_sliding. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define CLAIMS  "later:stock:{i}:claims"
#define FIXED   "later:limit:{k}"
#define SLIDING "later:limit:{s}"

static const char *claim(const char *who)
{
    return flat(run("stock_claim", who, NULL));
}

AT_START(harness_stand_still());

TEST(never_more_claims_than_there_are)
{
    ck_assert_str_eq(flat(run("stock_set", "3", NULL)), "3");
    ck_assert_str_eq(claim("ann"), "1 1");
    ck_assert_str_eq(claim("bob"), "1 2");
    ck_assert_str_eq(claim("ann"), "0 1"); /* the same claim again */
    ck_assert_str_eq(claim("cyd"), "1 3");
    ck_assert_str_eq(claim("dan"), "-1 0");
    ck_assert_str_eq(claim("cyd"), "0 3"); /* also when sold out */
    ck_assert_str_eq(flat(ask("HGETALL " CLAIMS)), "ann 1 bob 2 cyd 3");
    ck_assert_str_eq(flat(run("stock_show", NULL)), "3 3 0");
}

TEST(a_claim_given_back_is_free_again)
{
    run("stock_set", "2", NULL);
    claim("ann");
    claim("bob");
    ck_assert_str_eq(flat(run("stock_release", "ann", NULL)), "1");
    ck_assert_str_eq(flat(run("stock_release", "ann", NULL)), "0");
    ck_assert_str_eq(flat(run("stock_show", NULL)), "2 1 1");
    ck_assert_str_eq(claim("cyd"), "1 3"); /* numbers only grow */
    ck_assert_str_eq(claim("ann"), "-1 0");
}

TEST(nothing_to_claim_where_nothing_was_set)
{
    uint64_t before = digest();

    ck_assert_str_eq(claim("ann"), "-1 0");
    ck_assert_str_eq(flat(run("stock_show", NULL)), "");
    ck_assert_str_eq(flat(run("stock_release", "ann", NULL)), "0");
    ck_assert_uint_eq(digest(), before);
}

TEST(the_total_may_change)
{
    run("stock_set", "3", NULL);
    claim("ann");
    claim("bob");
    ck_assert_str_eq(flat(run("stock_set", "1", NULL)), "0"); /* claims that were given stay */
    ck_assert_str_eq(flat(run("stock_show", NULL)), "1 2 0");
    ck_assert_str_eq(claim("bob"), "0 2");
    ck_assert_str_eq(claim("cyd"), "-1 0");
    run("stock_release", "ann", NULL);
    ck_assert_str_eq(claim("cyd"), "-1 0");
    ck_assert_str_eq(flat(run("stock_set", "2", NULL)), "1");
    ck_assert_str_eq(claim("cyd"), "1 3");
    ck_assert_str_eq(flat(run("stock_set", "0", NULL)), "0");
    ck_assert_str_eq(flat(run("stock_show", NULL)), "0 2 0");
}

TEST(sold_out_exactly)
{
    int sold = 0;

    run("stock_set", "10", NULL);
    for (int i = 0; i < 2000; i++) {
        sold += *claim(text("buyer%d", i % 1500)) == '1';
        harness_free();
    }
    ck_assert_int_eq(sold, 10);
    ck_assert_int_eq(ask("HLEN " CLAIMS)->integer, 10);
}

TEST(a_total_is_a_whole_number)
{
    static const char *const wrong[] = { "-1",  "1.5",  "nan", "inf",
                                         "ten", "0x10", "",    "1000000000000001" };
    uint64_t before;

    run("stock_set", "5", NULL);
    claim("ann");
    before = digest();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_mem_eq(run_error("stock_set", wrong[i], NULL), "ERR stock_set: ", 15);
        ck_assert_uint_eq(digest(), before);
    }
}

/* ---- limits */

static const char *const windows[] = { "limit_fixed", "limit_sliding" };

/* Asks once. Returns the seconds to wait, or 0 if it may. */
static double ask_limit(const char *window, const char *max, const char *per)
{
    const char *wait = run(window, max, per, NULL)->str;

    return *wait ? strtod(wait, NULL) : 0;
}

TEST_EACH(at_most_max_in_a_window, COUNT(windows))
{
    double wait;

    for (int i = 0; i < 5; i++)
        ck_assert_double_eq(ask_limit(windows[_i], "5", "60"), 0);
    wait = ask_limit(windows[_i], "5", "60");
    ck_assert_double_gt(wait, 50);
    ck_assert_double_le(wait, 60);
    ck_assert_double_eq(ask_limit(windows[_i], "6", "60"), 0); /* another max */
}

TEST_EACH(a_refusal_changes_nothing, COUNT(windows))
{
    uint64_t before;

    ask_limit(windows[_i], "1", "60");
    before = digest();
    for (int i = 0; i < 10; i++)
        ck_assert_double_gt(ask_limit(windows[_i], "1", "60"), 0);
    ck_assert_uint_eq(digest(), before);
}

TEST_EACH(after_the_wait_it_may, COUNT(windows))
{
    double wait;

    ask_limit(windows[_i], "1", "600");
    wait = ask_limit(windows[_i], "1", "600");
    ck_assert_double_le(wait, 600);
    server_advance(&harness_server, wait - 60);
    ck_assert_double_le(ask_limit(windows[_i], "1", "600"), 60);
    server_advance(&harness_server, 59);
    ck_assert_double_gt(ask_limit(windows[_i], "1", "600"), 0);
    server_advance(&harness_server, 1.002); /* keys expire to the millisecond */
    ck_assert_double_eq(ask_limit(windows[_i], "1", "600"), 0);
}

TEST(a_fixed_window_opens_with_the_first)
{
    long long left;

    ask_limit("limit_fixed", "3", "60");
    ask("PEXPIRE " FIXED " 20000");
    ask_limit("limit_fixed", "3", "60");
    left = ask("PTTL " FIXED)->integer;
    ck_assert_int_le(left, 20000); /* the second does not prolong it */
    ck_assert_int_gt(left, 15000);
    ck_assert_str_eq(ask("GET " FIXED)->str, "2");
}

TEST(a_sliding_window_counts_any_span)
{
    double wait;

    for (int i = 0; i < 3; i++)
        ask_limit("limit_sliding", "3", "60");
    ask("LSET " SLIDING " 2 %s", text("%.6f", now() - 50)); /* the oldest leaves in 10 s */
    wait = ask_limit("limit_sliding", "3", "60");
    ck_assert_double_gt(wait, 5);
    ck_assert_double_le(wait, 10);
    ask("LSET " SLIDING " 2 %s", text("%.6f", now() - 60.5));
    ck_assert_double_eq(ask_limit("limit_sliding", "3", "60"), 0);
    ck_assert_double_gt(ask_limit("limit_sliding", "3", "60"), 50);
    ck_assert_int_eq(ask("LLEN " SLIDING)->integer, 3); /* never more than max */
}

TEST_EACH(a_limit_leaves_nothing_behind, COUNT(windows))
{
    long long left;

    ask_limit(windows[_i], "3", "2.5");
    left = ask("PTTL %s", _i == 0 ? FIXED : SLIDING)->integer;
    ck_assert_int_gt(left, 1000);
    ck_assert_int_le(left, 2500);
}

TEST(a_key_without_an_end_is_a_new_window)
{
    ask("SET " FIXED " 1000");
    ck_assert_double_eq(ask_limit("limit_fixed", "1", "60"), 0);
    ck_assert_double_gt(ask_limit("limit_fixed", "1", "60"), 0);
    ck_assert_int_gt(ask("PTTL " FIXED)->integer, 0);
}

TEST(wrong_limits_are_refused)
{
    static const char *const wrong[][2] = {
        { "0", "1" },    { "-1", "1" }, { "1.5", "1" },  { "nan", "1" },  { "inf", "1" },
        { "0x10", "1" }, { "", "1" },   { "1", "0" },    { "1", "-1" },   { "1", "nan" },
        { "1", "inf" },  { "1", "" },   { "1", "0x10" }, { "1", "soon" },
    };

    for (size_t w = 0; w < 2; w++) {
        uint64_t before = digest();

        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            ck_assert_mem_eq(run_error(windows[w], wrong[i][0], wrong[i][1], NULL), "ERR limit_",
                             10);
            ck_assert_uint_eq(digest(), before);
        }
    }
}
