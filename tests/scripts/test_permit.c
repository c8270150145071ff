/* test_permit.c: permit_take permit_touch permit_free permit_line, hasten; lock_line. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define RUNNING "later:running:{n}"
#define WAITING "later:running:{n}:waiting"
#define LOCK    "later:lock:{n}"

/* "" when it has one. */
static const char *take(const char *token, const char *max, const char *ttl)
{
    return flat(run("permit_take", token, max, ttl, NULL));
}

static double ends(const char *token)
{
    redisReply *reply = ask("ZSCORE " RUNNING " %s", token);

    return reply->type == REDIS_REPLY_STRING ? atof(reply->str) : 0;
}

static double time_now(void)
{
    redisReply *reply = ask("TIME");

    return atof(reply->element[0]->str) + atof(reply->element[1]->str) / 1e6;
}

START_TEST(never_more_than_max)
{
    ck_assert_str_eq(take("a", "2", "30"), "");
    ck_assert_str_eq(take("b", "2", "30"), "");
    ck_assert_double_gt(atof(take("c", "2", "30")), 29);
    ck_assert_double_le(atof(take("c", "2", "30")), 30);
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 2);
    ck_assert_str_eq(take("c", "3", "30"), ""); /* a limit may be raised */
}
END_TEST

START_TEST(the_same_token_has_one_place)
{
    double first;

    take("a", "1", "1");
    first = ends("a");
    ck_assert_str_eq(take("a", "1", "50"), ""); /* a call whose answer was lost, repeated */
    ck_assert_double_gt(ends("a"), first + 40);
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 1);
}
END_TEST

START_TEST(freed_is_free)
{
    take("a", "1", "30");
    ck_assert_str_eq(flat(run("permit_free", "b", NULL)), "0");
    ck_assert_str_ne(take("b", "1", "30"), "");
    ck_assert_str_eq(flat(run("permit_free", "a", "b", NULL)), "1");
    ck_assert_str_eq(flat(run("permit_free", "a", NULL)), "0");
    ck_assert_str_eq(flat(run("permit_free", NULL)), "0");
    ck_assert_int_eq(ask("EXISTS " RUNNING)->integer, 0);
    ck_assert_str_eq(take("b", "1", "30"), "");
}
END_TEST

/* By Redis's clock: what was not renewed may be taken by another. */
START_TEST(a_place_ends_by_itself)
{
    double wait;

    take("a", "1", "60");
    wait = atof(take("b", "1", "30"));
    ck_assert_double_gt(wait, 0);
    ck_assert_double_le(wait, 60);
    server_advance(&harness_server, 60);
    ck_assert_str_eq(take("b", "1", "30"), "");
    ck_assert_double_eq(ends("a"), 0);
    ck_assert_str_eq(flat(run("permit_touch", "30", "a", "b", NULL)), "1");
    ck_assert_double_eq(ends("a"), 0); /* it does not come back by being touched */
}
END_TEST

START_TEST(touched_lasts)
{
    double now = time_now();

    take("a", "3", "1");
    take("b", "3", "100");
    ck_assert_str_eq(flat(run("permit_touch", "60", "a", "x", "b", "y", NULL)), "2 4");
    ck_assert_double_ge(ends("a"), now + 60);
    ck_assert_double_ge(ends("b"), now + 60);
    ck_assert_double_lt(ends("b"), now + 70);
    ck_assert_str_eq(flat(run("permit_touch", "60", NULL)), "");
    ck_assert_int_gt(ask("PTTL " RUNNING)->integer, 59000);
}
END_TEST

/* The key goes with its last place, and never before one. */
START_TEST(the_key_has_an_end)
{
    take("a", "2", "100");
    take("b", "2", "1");
    ck_assert_int_gt(ask("PTTL " RUNNING)->integer, 99000);
    ck_assert_int_le(ask("PTTL " RUNNING)->integer, 100000);
}
END_TEST

/* More places whose time is over than one call drops do not count. */
START_TEST(many_that_are_over)
{
    for (int i = 0; i < 700; i++)
        ask("ZADD " RUNNING " %d old%d", i + 1, i);
    ck_assert_str_eq(take("a", "1", "30"), "");
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 201);
    ck_assert_str_ne(take("b", "1", "30"), "");
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 1);
}
END_TEST

START_TEST(wrong_places_are_refused)
{
    static const char *const bad[][3] = {
        { "", "1", "30" },   { "a", "0", "30" },   { "a", "1.5", "30" }, { "a", "1000001", "30" },
        { "a", "nan", "1" }, { "a", "1", "0" },    { "a", "1", "-1" },   { "a", "1", "1e9" },
        { "a", "1", "inf" }, { "a", "0x1", "30" },
    };
    uint64_t before = digest();

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_str_ne(run_error("permit_take", bad[i][0], bad[i][1], bad[i][2], NULL), "");
    run_error("permit_touch", "0", "a", NULL);
    run_error("permit_touch", "soon", "a", NULL);
    run_error("hasten", "nan", "a", NULL);
    run_error("permit_line", "0", "1", "", NULL);
    run_error("permit_line", "1", "-1", "", NULL);
    run_error("lock_line", "soon", "", NULL);
    ck_assert_uint_eq(digest(), before);
}
END_TEST

/* ---- who waits */

START_TEST(the_first_that_waits)
{
    double now = time_now();

    ask("ZADD " WAITING " %f %s %f %s %f %s", now + 20, "q b", now + 10, "q a", now - 1, "q gone");
    ck_assert_ptr_nonnull(strstr(flat(run("permit_line", "1", "0", "", NULL)), "1 q a 1"));
    ck_assert_int_eq(ask("ZCARD " WAITING)->integer, 1); /* what is due looks for itself */
    ck_assert_ptr_nonnull(strstr(flat(run("permit_line", "1", "0", "", NULL)), "0 q b 1"));
    ck_assert_str_eq(flat(run("permit_line", "1", "0", "", NULL)), "0");
}
END_TEST

/* As many as fit, and none if none fit. */
START_TEST(called_while_there_is_room)
{
    double now = time_now();

    ask("ZADD " WAITING " %f %s %f %s %f %s", now + 920, "q b", now + 910, "q a", now + 930, "q c");
    take("t1", "3", "900");
    take("t2", "3", "60");
    ck_assert_str_eq(flat(run("permit_line", "2", "0", "", NULL)), "3");
    server_advance(&harness_server, 60); /* the second is over */
    ck_assert_uint_eq(run("permit_line", "3", "0", "", NULL)->elements, 5);
    ck_assert_int_eq(ask("ZCARD " WAITING)->integer, 1);
}
END_TEST

/* To enter and to look is one step. */
START_TEST(who_enters_where_it_is_free_is_called)
{
    double now = time_now(), due;
    redisReply *reply;

    take("t", "1", "30");
    ck_assert_str_eq(flat(run("permit_line", "1", "60", "q a", NULL)), "1");
    due = atof(ask("ZSCORE " WAITING " %s", "q a")->str);
    ck_assert_double_ge(due, now + 60);
    ck_assert_double_lt(due, now + 70);
    ck_assert_str_eq(flat(run("permit_line", "1", "60", "q a", NULL)), "1"); /* once only */
    run("permit_free", "t", NULL);
    reply = run("permit_line", "1", "90", "q b", NULL);
    ck_assert_int_eq(reply->element[0]->integer, 1);
    ck_assert_str_eq(reply->element[1]->str, "q a");
    ck_assert_str_eq(run("permit_line", "1", "90", "q c", NULL)->element[1]->str, "q b");
    ck_assert_int_gt(ask("PTTL " WAITING)->integer, 0);
}
END_TEST

/* The lock is kept for the one that was woken in BLPOP. A pass that nobody took was for nobody. */
START_TEST(the_line_of_a_lock)
{
    run("lock_take", "t", "o", "30", "", NULL);
    ck_assert_str_eq(flat(run("lock_line", "60", "q a", NULL)), "1");
    run("lock_free", "t", NULL);
    ask("LPOP " LOCK ":wake");
    ck_assert_str_eq(flat(run("lock_line", "0", "", NULL)), "1");
    ask("LPUSH " LOCK ":wake t");
    ck_assert_str_eq(run("lock_line", "0", "", NULL)->element[1]->str, "q a");
    ck_assert_str_eq(flat(run("lock_line", "0", "", NULL)), "0");
}
END_TEST

static long long hasten(double latest, const char *id)
{
    argf("%f", latest);
    return run("hasten", id, NULL)->integer;
}

START_TEST(hastened_is_due_now)
{
    double now = time_now();

    ask("ZADD later:{q}:delayed %f a %f b %f c", now + 10, now + 100, now - 5);
    ck_assert_int_eq(hasten(now + 10.5, "a"), 1);
    ck_assert_double_lt(atof(ask("ZSCORE later:{q}:delayed a")->str), now + 5);
    ck_assert_int_eq(hasten(now + 50, "b"), 0);  /* due later, */
    ck_assert_int_eq(hasten(now + 103, "b"), 0); /* or sooner than what has entered the line */
    ck_assert_double_eq_tol(atof(ask("ZSCORE later:{q}:delayed b")->str), now + 100, 0.001);
    ck_assert_int_eq(hasten(now + 1, "c"), 0);
    ck_assert_double_eq_tol(atof(ask("ZSCORE later:{q}:delayed c")->str), now - 5, 0.001);
    ck_assert_int_eq(hasten(now + 1, "nobody"), 0);
    ck_assert_ptr_eq(ask("ZSCORE later:{q}:delayed nobody")->str, NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        never_more_than_max,
        the_same_token_has_one_place,
        freed_is_free,
        a_place_ends_by_itself,
        touched_lasts,
        the_key_has_an_end,
        many_that_are_over,
        wrong_places_are_refused,
        the_first_that_waits,
        called_while_there_is_room,
        who_enters_where_it_is_free_is_called,
        the_line_of_a_lock,
        hastened_is_due_now,
        NULL,
    };

    return harness_main("places", tests);
}
