/* test_looker.c: of those that ask, so many look; a post that is given up or over is another's. */
#include "harness.h"

#include <stdlib.h>

#define LOOKERS "later:lookers:{k}"

static bool looks(const char *host)
{
    return run("looker", host, "3", "2", NULL)->element[0]->integer == 1;
}

static long long waiting(const char *host)
{
    return run("looker", host, "3", "2", NULL)->element[2]->integer;
}

AT_START(harness_stand_still());

TEST(so_many_and_no_more)
{
    ck_assert(looks("a"));
    ck_assert(looks("b"));
    ck_assert(!looks("c"));
    ck_assert(!looks("d"));
    ck_assert(looks("a"));
    ck_assert(looks("b"));
    ck_assert_int_eq(waiting("c"), 2);
    ck_assert_int_eq(waiting("a"), 2);
    ck_assert_int_eq(ask("ZCARD " LOOKERS)->integer, 4);
}

TEST(given_up)
{
    looks("a");
    looks("b");
    looks("c");
    ck_assert_int_eq(run("looker", "a", "0", "2", NULL)->element[0]->integer, 0);
    ck_assert(looks("c"));
    ck_assert(!looks("a"));
    run("looker", "a", "0", "2", NULL); /* one that waits waits no longer */
    ck_assert_int_eq(ask("ZCARD " LOOKERS)->integer, 2);
    ck_assert_int_eq(waiting("b"), 0);
}

TEST(over)
{
    looks("a");
    server_advance(&harness_server, 2);
    looks("b");
    ck_assert(!looks("c"));
    server_advance(&harness_server, 1.5);
    ck_assert(looks("c"));
    ck_assert(!looks("a"));
    ck_assert(looks("b"));
    server_advance(&harness_server, 119);
    ck_assert(looks("d"));
    ck_assert_int_eq(waiting("d"), 1); /* a waits still: nobody knows that it is gone */
    server_advance(&harness_server, 2);
    ck_assert_int_eq(waiting("d"), 0);
    ck_assert_int_eq(ask("ZCARD " LOOKERS)->integer, 1);
}

TEST(it_ends_by_itself)
{
    looks("a");
    ck_assert_int_gt(ask("PTTL " LOOKERS)->integer, 110000);
    ck_assert_int_le(ask("PTTL " LOOKERS)->integer, 120000);
}

/* Redis's clock was an hour ahead, and those that looked then are gone. */
TEST(posts_of_another_clock)
{
    double now = atof(run("looker", "c", "0", "2", NULL)->element[1]->str);

    ask("ZADD " LOOKERS " %f a %f b", now + 3600, now + 3600);
    ck_assert(looks("c"));
    ck_assert(looks("a")); /* it was its own anyway */
    ck_assert(!looks("d"));
}

TEST(a_full_redis)
{
    looks("a");
    ask("CONFIG SET maxmemory 1");
    ck_assert(looks("a"));
    ask("CONFIG SET maxmemory 0");
}

TEST(refused)
{
    run_error("looker", "", "3", "1", NULL);
    run_error("looker", "a", "61", "1", NULL);
    run_error("looker", "a", "-1", "1", NULL);
    run_error("looker", "a", "3", "0", NULL);
    run_error("looker", "a", "3", "101", NULL);
    ask("SET " LOOKERS " x");
    run_error("looker", "a", "3", "1", NULL);
    ck_assert_str_eq(ask("GET " LOOKERS)->str, "x");
}
