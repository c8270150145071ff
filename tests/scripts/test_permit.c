/* test_permit.c: permit_take permit_touch permit_free; lines: permit_line lock_line limit_line,
 * hasten, limit_take limit_free. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define RUNNING "later:running:{n}"
#define WAITING "later:running:{n}:waiting"
#define LOCK    "later:lock:{n}"

/* "" when it has one. */
static const char *take(const char *token, const char *max, const char *ttl)
{
    return flat(run("permit_take", token, max, ttl, "", NULL));
}

static double ends(const char *token)
{
    redisReply *reply = ask("ZSCORE " RUNNING " %s", token);

    return reply->type == REDIS_REPLY_STRING ? atof(reply->str) : 0;
}

TEST(never_more_than_max)
{
    ck_assert_str_eq(take("a", "2", "30"), "");
    ck_assert_str_eq(take("b", "2", "30"), "");
    ck_assert_double_gt(atof(take("c", "2", "30")), 29);
    ck_assert_double_le(atof(take("c", "2", "30")), 30);
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 2);
    ck_assert_str_eq(take("c", "3", "30"), ""); /* a limit may be raised */
}

TEST(the_same_token_has_one_place)
{
    double first;

    take("a", "1", "1");
    first = ends("a");
    ck_assert_str_eq(take("a", "1", "50"), ""); /* a call whose answer was lost, repeated */
    ck_assert_double_gt(ends("a"), first + 40);
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 1);
}

TEST(freed_is_free)
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

/* By Redis's clock: what was not renewed may be taken by another. */
TEST(a_place_ends_by_itself)
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

TEST(touched_lasts)
{
    double from = now();

    take("a", "3", "1");
    run("permit_touch", "40", "a", NULL);
    ck_assert_int_gt(ask("PTTL " RUNNING)->integer, 10000); /* and the key with it */
    take("b", "3", "100");
    ck_assert_str_eq(flat(run("permit_touch", "60", "a", "x", "b", "y", NULL)), "2 4");
    ck_assert_double_ge(ends("a"), from + 60);
    ck_assert_double_ge(ends("b"), from + 60);
    ck_assert_double_lt(ends("b"), from + 70);
    ck_assert_str_eq(flat(run("permit_touch", "60", NULL)), "");
    ck_assert_int_gt(ask("PTTL " RUNNING)->integer, 59000);
}

/* The key goes with its last place, and never before one. */
TEST(the_key_has_an_end)
{
    take("a", "2", "100");
    take("b", "2", "1");
    ck_assert_int_gt(ask("PTTL " RUNNING)->integer, 99000);
    ck_assert_int_le(ask("PTTL " RUNNING)->integer, 100000);
}

/* More places whose time is over than one call drops do not count. */
TEST(many_that_are_over)
{
    for (int i = 0; i < 700; i++)
        ask("ZADD " RUNNING " %d old%d", i + 1, i);
    ck_assert_str_eq(take("a", "1", "30"), "");
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 201);
    ck_assert_str_ne(take("b", "1", "30"), "");
    ck_assert_int_eq(ask("ZCARD " RUNNING)->integer, 1);
}

TEST(wrong_places_are_refused)
{
    static const char *const bad[][3] = {
        { "", "1", "30" },   { "a", "0", "30" },   { "a", "1.5", "30" }, { "a", "1000001", "30" },
        { "a", "nan", "1" }, { "a", "1", "0" },    { "a", "1", "-1" },   { "a", "1", "1e9" },
        { "a", "1", "inf" }, { "a", "0x1", "30" },
    };
    uint64_t before = digest();

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_str_ne(run_error("permit_take", bad[i][0], bad[i][1], bad[i][2], "", NULL), "");
    run_error("permit_touch", "0", "a", NULL);
    run_error("permit_touch", "soon", "a", NULL);
    run_error("hasten", "nan", "1", "a", NULL);
    run_error("hasten", "1", "", "a", NULL);
    run_error("put_off", "a", "nan", "2", NULL);
    run_error("put_off", "a", "1", "", NULL);
    run_error("permit_line", "0", "1", "0", "", NULL);
    run_error("permit_line", "1", "-1", "0", "", NULL);
    run_error("lock_line", "soon", "0", "", NULL);
    run_error("lock_line", "1", "soon", "", NULL);
    run_error("limit_line", "1", "60", "open", "", "0", "", NULL);
    run_error("limit_take", "0", "60", "fixed", "q a", NULL);
    run_error("limit_take", "9", "60", "fixed", "q a", text("q %300d", 1), NULL);
    run_error("limit_free", "sliding", "soon", NULL);
    run_error("limit_begun", "1", "60", "soon", NULL);
    run_error("limit_begun", "0", "60", "1", NULL);
    ck_assert_uint_eq(digest(), before);
}

/* ---- who waits */

/* Enters the line, due in an hour; since < 0: it does not come. Returns the answer in one line. */
static const char *enter(const char *script, double since, const char *waiter)
{
    if (strcmp(script, "permit_line") == 0)
        arg("1");
    if (strcmp(script, "limit_line") == 0) {
        arg("1");
        arg("60");
        arg("sliding");
    }
    arg(since < 0 || !*waiter ? "" : "4000000000.25");
    argf("%f", since < 0 ? 0 : since);
    return flat(run(script, waiter, NULL));
}

static const char *const scripts[] = { "permit_line", "lock_line", "limit_line" };
static const char *const holders[] = { RUNNING, LOCK, "later:limit:{f}" };

/* When was the n-th job (from 0) of a limit_take counted? NULL: it was not. */
static const char *counted(const redisReply *reply, size_t n)
{
    ck_assert_uint_gt(reply->elements, 2 + n);
    return reply->element[2 + n]->str;
}

static const char *take_as(const char *script, const char *waiter)
{
    if (strcmp(script, "permit_line") == 0)
        return *flat(run("permit_take", waiter, "1", "30", waiter, NULL)) ? "0" : "1";
    if (strcmp(script, "lock_line") == 0)
        return text("%lld",
                    run("lock_take", waiter, "o", "30", "", waiter, NULL)->element[0]->integer);
    return counted(run("limit_take", "1", "60", "sliding", waiter, NULL), 0) ? "1" : "0";
}

static void let_go(const char *holder)
{
    ask("DEL %s", holder);
}

/* By when they were ready, not by when they entered or are due. A job keeps its place. */
TEST_EACH(the_first_that_was_ready, COUNT(scripts))
{
    const char *script = scripts[_i];

    ck_assert_str_eq(take_as(script, "q x"), "1");
    enter(script, 500, "q b");
    enter(script, 400, "q a");
    enter(script, 0, "q late");
    ck_assert_ptr_nonnull(strstr(enter(script, 900, "q a"), "3 "));
    let_go(holders[_i]);
    ck_assert_ptr_nonnull(strstr(enter(script, 0, ""), " q a 4000000000.25 400.000000"));
    ck_assert_ptr_null(strstr(enter(script, 0, ""), "q b"));          /* it is kept for a */
    ck_assert_ptr_nonnull(strstr(enter(script, -1, "q a"), " q b ")); /* a does not come */
    ck_assert_int_gt(ask("PTTL %s:waiting", holders[_i])->integer, 0);
    ck_assert_int_gt(ask("PTTL %s:due", holders[_i])->integer, 0);
}

/* Whoever comes later does not go before those that wait, called or not; but a second after its
 * call a job has no place any more. Once it is due to go, it leaves the line. */
TEST_EACH(nobody_overtakes, COUNT(scripts))
{
    const char *script = scripts[_i];

    take_as(script, "q x");
    enter(script, 500, "q a");
    let_go(holders[_i]);
    ck_assert_str_eq(take_as(script, "q new"), "0"); /* not called yet */
    ck_assert_ptr_nonnull(strstr(enter(script, 0, "q new"), "1 "));
    ck_assert_str_eq(take_as(script, "q new"), "0"); /* a is called */
    server_advance(&harness_server, 1.1);
    ck_assert_str_eq(take_as(script, "q new"), "1"); /* a has not come in time */
    ck_assert_str_eq(flat(ask("ZRANGE %s:waiting 0 -1", holders[_i])), "q a");
    ck_assert_str_eq(take_as(script, "q a"), "0");
    enter(script, 900, "q b");
    enter(script, 0, "q a"); /* it comes back to its place */
    let_go(holders[_i]);
    ck_assert_ptr_nonnull(strstr(enter(script, 0, ""), " q a "));
    ck_assert_str_eq(take_as(script, "q a"), "1");
    ck_assert_str_eq(flat(ask("ZRANGE %s:waiting 0 -1", holders[_i])), "q b");
    ck_assert_str_eq(flat(ask("ZRANGE %s:due 1 -1", holders[_i])), "q b"); /* 0: when it moved */
}

/* A job that comes by itself is told how many are behind it in the line: it need not come soon. */
TEST(whoever_is_in_the_line_is_told)
{
    take("x", "1", "30");
    ck_assert_ptr_null(strchr(flat(run("permit_take", "t", "1", "30", "q a", NULL)), ' '));
    enter("permit_line", 500, "q a");
    ck_assert_str_eq(strchr(flat(run("permit_take", "t", "1", "30", "q a", NULL)), ' '), " 0");
    enter("permit_line", 400, "q b");
    enter("permit_line", 600, "q c");
    ck_assert_str_eq(strchr(flat(run("permit_take", "t", "1", "30", "q a", NULL)), ' '), " 1");
    ck_assert_str_eq(strchr(flat(run("permit_take", "t", "1", "30", "q b", NULL)), ' '), " 2");
    ck_assert_ptr_null(strchr(flat(run("permit_take", "t", "1", "30", "q d", NULL)), ' '));
    ck_assert_ptr_null(strchr(take("t", "1", "30"), ' '));
    let_go(RUNNING);
    ck_assert_str_eq(flat(run("permit_take", "t", "1", "30", "q b", NULL)), "");
}

/* So does a limit. */
TEST_EACH(a_limit_tells_its_line, 2)
{
    static const char *const windows[] = { "fixed", "sliding" };
    const redisReply *reply;

    run("limit_take", "1", "60", windows[_i], "", NULL);
    reply = run("limit_take", "1", "60", windows[_i], "q a", NULL);
    ck_assert_int_eq(reply->element[2]->integer, -1);
    for (const char *id = "abc"; *id; id++)
        run("limit_line", "1", "60", windows[_i], "4000000000", text("%d", *id), text("q %c", *id),
            NULL);
    reply = run("limit_take", "1", "60", windows[_i], "q a", NULL);
    ck_assert_int_eq(reply->element[2]->integer, 2);
    reply = run("limit_take", "1", "60", windows[_i], "q c", NULL);
    ck_assert_int_eq(reply->element[2]->integer, 0);
}

/* If called jobs do not come, they are called once more, and more and more besides. After a minute
 * they are called for the last time, and forgotten. Until then somebody has to look. */
TEST(a_queue_that_nobody_serves)
{
    for (int i = 0; i < 20; i++)
        ask("ZADD " WAITING " %d gone%d", 100 + i, i);
    ck_assert_ptr_nonnull(strstr(enter("permit_line", 0, ""), "19  gone0 0 100"));
    server_advance(&harness_server, 2);
    ck_assert_ptr_nonnull(strstr(enter("permit_line", 0, ""), "17  gone1 0 101.000000 gone2 0 102"
                                                              ".000000 gone0 0 100"));
    server_advance(&harness_server, 2);
    ck_assert_ptr_nonnull(strstr(enter("permit_line", 0, ""), "13  gone3 "));
    server_advance(&harness_server, 62);
    ck_assert_ptr_nonnull(strstr(enter("permit_line", 0, ""), "8  gone7 0 107.000000 gone8 "));
    ck_assert_int_eq(ask("ZCARD " WAITING)->integer, 17);
    server_advance(&harness_server, 62);
    enter("permit_line", 0, "");
    ck_assert_int_eq(ask("ZCARD " WAITING)->integer, 13);
    for (int i = 0; i < 40; i++) {
        const char *answer = enter("permit_line", 0, "");

        ck_assert_int_eq(ask("EXISTS " WAITING)->integer, atoi(answer) != 0);
        server_advance(&harness_server, 62);
    }
    ck_assert_int_eq(ask("EXISTS " WAITING " " WAITING)->integer, 0);
}

/* Whoever called it died before it made the job ready. So it is called again, by when it is due. */
TEST_EACH(a_call_that_was_lost, COUNT(scripts))
{
    const char *script = scripts[_i];

    take_as(script, "q x");
    enter(script, 500, "q a");
    enter(script, 600, "q b");
    let_go(holders[_i]);
    ck_assert_ptr_nonnull(strstr(enter(script, 0, ""), "1 "));
    server_advance(&harness_server, 1.1);
    ck_assert_ptr_nonnull(strstr(enter(script, 0, ""), " q b 4000000000.25 600.000000 "
                                                       "q a 4000000000.25 500.000000"));
    ck_assert_ptr_null(strstr(enter(script, 0, ""), " q a"));
    ck_assert_str_eq(take_as(script, "q b"), "1");
    ck_assert_int_eq(atoi(enter(script, 0, "")), 1); /* somebody looks whether a comes */
    server_advance(&harness_server, 60);
    ck_assert_ptr_nonnull(strstr(enter(script, 0, ""), " q a 4000000000.25 500.000000"));
    ck_assert_ptr_null(strstr(enter(script, 0, ""), "q a"));
    enter(script, -1, "q a"); /* it is gone */
    ck_assert_int_eq(ask("EXISTS %s:waiting %s:due", holders[_i], holders[_i])->integer, 0);
}

/* Called ones that did not come in time have no more called as long as the line moves: they would
 * come only to be refused. */
TEST_EACH(a_line_that_moves_calls_no_more, COUNT(scripts))
{
    const char *script = scripts[_i];

    for (int n = 0; n < 20; n++)
        ask("ZADD %s:waiting %d q%d", holders[_i], 100 + n, n);
    enter(script, 0, ""); /* one is called */
    server_advance(&harness_server, 1.1);
    enter(script, 0, ""); /* two */
    server_advance(&harness_server, 1.1);
    enter(script, 0, ""); /* four, of which one comes */
    ck_assert_str_eq(take_as(script, "q3"), "1");
    ck_assert_int_eq(atoi(enter(script, 0, "")), 13);
    let_go(holders[_i]);
    server_advance(&harness_server, 1.1);
    ck_assert_int_eq(atoi(enter(script, 0, "")), 12); /* one more */
    server_advance(&harness_server, 1.1);
    ck_assert_int_eq(atoi(enter(script, 0, "")), 10); /* two: it has stood still since */
}

/* As many as fit, and none if none fit. To enter and to look is one step. */
TEST(called_while_there_is_room)
{
    take("t1", "3", "900");
    take("t2", "3", "60");
    for (const char *id = "abc"; *id; id++)
        run("permit_line", "2", "4000000000", "0", text("q %c", *id), NULL);
    server_advance(&harness_server, 60); /* the second is over */
    ck_assert_uint_eq(run("permit_line", "3", "", "0", "", NULL)->elements, 2 + 2 * 3);
    ck_assert_ptr_nonnull(
        strstr(flat(run("permit_line", "4", "4000000000", "0", "q d", NULL)), "1  q c "));
}

/* The lock is kept for the one that was woken in BLPOP. A pass that nobody took was for nobody. */
TEST(the_line_of_a_lock)
{
    run("lock_take", "t", "o", "30", "", "", NULL);
    enter("lock_line", 0, "q a");
    run("lock_free", "t", NULL);
    ask("LPOP " LOCK ":wake");
    ck_assert_str_eq(enter("lock_line", 0, ""), "1 ");
    ask("LPUSH " LOCK ":wake t");
    ck_assert_ptr_nonnull(strstr(enter("lock_line", 0, ""), " q a "));
}

/* A limit says when it opens, and takes back what does not happen. */
TEST_EACH(a_limit_takes_back, 2)
{
    const char *window = _i ? "fixed" : "sliding";
    const redisReply *reply = run("limit_take", "2", "60", window, "q a", NULL);
    const char *at = harness_keep(strdup(counted(reply, 0)));

    ck_assert_str_eq(reply->element[1]->str, "0.000000");
    server_advance(&harness_server, 0.001); /* its time is its own, whatever the clock does */
    reply = run("limit_take", "2", "60", window, "q b", NULL);
    ck_assert_double_gt(atof(reply->element[1]->str), 59);
    reply = run("limit_take", "2", "60", window, "q c", NULL);
    ck_assert_ptr_null(counted(reply, 0));
    ck_assert_double_gt(atof(reply->element[1]->str), 59);
    ck_assert_int_eq(run("limit_free", window, at, NULL)->integer, 1);
    ck_assert_ptr_nonnull(counted(run("limit_take", "2", "60", window, "q c", NULL), 0));
    server_advance(&harness_server, 61);
    ck_assert_int_eq(run("limit_free", window, at, NULL)->integer, 0);
}

static int opens_after(double seconds)
{
    server_advance(&harness_server, seconds);
    return counted(run("limit_take", "2", "10", "sliding", "q c", NULL), 0) != NULL;
}

/* Its place is kept until it has begun, and from then on as long as the span. If that is never
 * told, it is free in the end. */
TEST(a_limit_counts_from_the_begin)
{
    const char *at =
        harness_keep(strdup(counted(run("limit_take", "2", "10", "sliding", "q a", NULL), 0)));

    run("limit_take", "2", "10", "sliding", "q b", NULL);
    server_advance(&harness_server, 4);
    ck_assert_int_eq(run("limit_begun", "2", "10", at, NULL)->integer, 1);
    ck_assert_int_eq(opens_after(9.9), 0);
    ck_assert_int_eq(opens_after(0.4), 1); /* a, which began at 4 */
    ck_assert_int_eq(opens_after(0.4), 0); /* b, which may still begin, for all we know */
    ck_assert_int_eq(opens_after(0.5), 1); /* 15.2 */
    ck_assert_int_eq(ask("LLEN later:limit:{f}")->integer, 2);
    ck_assert_int_eq(run("limit_begun", "2", "10", at, NULL)->integer, 0);
    ck_assert_int_eq(ask("LLEN later:limit:{f}")->integer, 3); /* it has begun now, all the same */
}

/* A number that is lower for a while does not make it forget what has begun. */
TEST(a_lower_limit_remembers)
{
    const char *at =
        harness_keep(strdup(counted(run("limit_take", "3", "10", "sliding", "q a", NULL), 0)));

    run("limit_take", "3", "10", "sliding", "q b", NULL);
    run("limit_take", "3", "10", "sliding", "q c", NULL);
    ck_assert_int_eq(run("limit_begun", "1", "10", at, NULL)->integer, 1);
    ck_assert_ptr_null(counted(run("limit_take", "1", "10", "sliding", "q d", NULL), 0));
    ck_assert_ptr_null(counted(run("limit_take", "3", "10", "sliding", "q d", NULL), 0));
    server_advance(&harness_server, 16);
    ck_assert_ptr_nonnull(counted(run("limit_take", "1", "10", "sliding", "q d", NULL), 0));
    ck_assert_int_eq(ask("LLEN later:limit:{f}")->integer, 1);
}

/* A limit's list, newest first: `fresh` times of the last second, then `old` of long ago. */
static void fill_limit(int fresh, int old)
{
    double present = now();

    ask("FLUSHALL");
    for (int i = 0; i < fresh + old; i++)
        ask("RPUSH later:limit:{f} %f", i < fresh ? present - i * 0.001 : present - 100 - i);
}

/* Of 120 jobs in its line as many are called as there is room for, 100 at most. */
TEST(a_limit_knows_its_room)
{
    static const int cases[][4] = {
        /* max, fresh, old: room */
        { 1, 0, 0, 1 },       { 1, 1, 0, 0 },         { 1, 0, 1, 1 },     { 2, 1, 1, 1 },
        { 3, 1, 2, 2 },       { 7, 7, 0, 0 },         { 7, 4, 3, 3 },     { 50, 0, 0, 50 },
        { 50, 0, 50, 50 },    { 130, 60, 0, 70 },     { 130, 129, 0, 1 }, { 130, 128, 2, 2 },
        { 130, 130, 0, 0 },   { 101, 1, 100, 100 },   { 101, 2, 50, 99 }, { 300, 150, 0, 100 },
        { 300, 205, 20, 95 }, { 1000000, 3, 0, 100 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int room = cases[i][3];
        const redisReply *reply;

        fill_limit(cases[i][1], cases[i][2]);
        for (int n = 1; n <= 120; n++)
            ask("ZADD later:limit:{f}:waiting %d %s", n, text("job%d", n));
        reply = run("limit_line", text("%d", cases[i][0]), "60", "sliding", "", "0", "", NULL);
        ck_assert_msg(reply->elements == 2 + 3 * (size_t)room, "case %zu: %zu", i, reply->elements);
        if (room > 0) {
            ck_assert_str_eq(reply->element[1]->str, "0.000000");
            continue;
        }
        ck_assert_double_gt(atof(reply->element[1]->str), 40);
        ck_assert_double_le(atof(reply->element[1]->str), 60);
    }
}

/* However many there are that have not begun, one that has begun is right behind them. */
TEST(a_limit_stays_in_order)
{
    static const int counts[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 37, 64 };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *last = "9999999999";
        const redisReply *list;
        double present;
        int later = 0;

        fill_limit(3, 0);
        present = now();
        for (int n = 0; n < counts[i]; n++)
            ask("LPUSH later:limit:{f} %f", present + 1000 + n * 0.001);
        ask("LPUSH later:limit:{f} %f", present + 1001);
        ck_assert_int_eq(
            run("limit_begun", "500", "60", text("%.6f", present + 1001), NULL)->integer, 1);
        list = ask("LRANGE later:limit:{f} 0 -1");
        ck_assert_uint_eq(list->elements, (size_t)counts[i] + 4);
        for (size_t n = 0; n < list->elements; n++) {
            ck_assert_double_le(atof(list->element[n]->str), atof(last));
            last = list->element[n]->str;
            later += atof(last) > present + 900;
        }
        ck_assert_int_eq(later, counts[i]);
    }
}

/* Asks a limit of 5 for jobs, a letter each, in one call or one by one. Returns the same with a `-`
 * for each that was not counted. */
static const char *take_many(const char *window, const char *jobs, bool together)
{
    char *who = harness_keep(strdup(jobs));
    const redisReply *reply = NULL;

    for (size_t n = 0; jobs[n]; n++) {
        if (n == 0 || !together) {
            arg("5");
            arg("60");
            arg(window);
        }
        arg(text("q %c", jobs[n]));
        if (!together && !counted(run("limit_take", NULL), 0))
            who[n] = '-';
    }
    if (together) {
        reply = run("limit_take", NULL);
        for (size_t n = 0; jobs[n]; n++)
            who[n] = counted(reply, n) ? who[n] : '-';
    }
    return who;
}

/* Many in one call get what they would get one after the other; those that wait come first. */
TEST(a_limit_takes_many)
{
    static const struct {
        const char *before, *line, *jobs, *get;
    } cases[] = {
        { "", "", "abc", "abc" },
        { "", "", "abcdefg", "abcde--" },
        { "xyz", "", "abcdefg", "ab-----" },
        { "vwxyz", "", "abc", "---" },
        { "", "hi", "abcdefg", "abc----" },
        { "", "hi", "abhiefg", "abhie--" },
        { "xyz", "hi", "abhi", "--hi" },
        { "xyz", "hij", "jabih", "---ih" },
        { "", "fghijk", "abkjihgf", "---jihgf" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int way = 0; way < 4; way++) {
            const char *window = way / 2 ? "fixed" : "sliding", *got;

            ask("FLUSHALL");
            take_many(window, cases[i].before, false);
            for (size_t n = 0; cases[i].line[n]; n++)
                ask("ZADD later:limit:{f}:waiting %d %s", (int)n + 1,
                    text("q %c", cases[i].line[n]));
            got = take_many(window, cases[i].jobs, way % 2);
            ck_assert_msg(strcmp(got, cases[i].get) == 0, "case %zu, way %d: %s", i, way, got);
        }
}

/* Each has its own time, in order, also if calls follow at once; so each can be given back. */
TEST(times_of_many_differ)
{
    const redisReply *reply;
    char *at[60];

    for (size_t n = 0; n < 60; n += 20) {
        arg("100");
        arg("60");
        arg("sliding");
        for (size_t k = 0; k < 20; k++)
            arg(text("q %zu", n + k));
        reply = run("limit_take", NULL);
        for (size_t k = 0; k < 20; k++) {
            at[n + k] = harness_keep(strdup(counted(reply, k)));
            ck_assert(n + k == 0 || strcmp(at[n + k], at[n + k - 1]) > 0);
        }
    }
    reply = ask("LRANGE later:limit:{f} 0 -1");
    ck_assert_uint_eq(reply->elements, 60);
    for (size_t n = 0; n < 60; n++)
        ck_assert_str_eq(reply->element[n]->str, at[59 - n]);
    for (size_t n = 0; n < 60; n++)
        ck_assert_int_eq(run("limit_free", "sliding", at[n], NULL)->integer, 1);
}

static long long hasten(double due, const char *id)
{
    argf("%f", due);
    return run("hasten", "1000", id, NULL)->integer;
}

/* To its place, and exactly the one that entered the line. */
TEST(hastened_is_ready)
{
    double due = 4000000000.25;

    push_when("a", "+100");
    push_when("b", "+100");
    push("c");
    ask("ZADD later:{q}:delayed %f a %f b", due, due + 0.5);
    ck_assert_int_eq(hasten(due, "a"), 1);
    ck_assert_str_eq(members("ready"), "a c");
    ck_assert_double_eq(atof(ask("ZSCORE later:{q}:ready a")->str), 1000);
    ck_assert_int_eq(hasten(due, "a"), 1); /* it is on its way */
    ck_assert_int_eq(hasten(due, "b"), 0); /* another one by now */
    ck_assert_int_eq(hasten(due, "nobody"), 0);
    ask("SET later:{q}:paused 1");
    ck_assert_int_eq(hasten(due + 0.5, "b"), 0); /* it does not come soon */
    ck_assert_str_eq(members("ready"), "a b c");
}

/* One that people gave another time waits in no line; one with another priority does. */
TEST(rescheduled_leaves_the_line)
{
    double due = 4000000000.25;

    push_when("a", "+100");
    ask("ZADD later:{q}:delayed %f a", due);
    ask("HSET later:{q}:records a %s", text("l=%f p n\n", due));
    ck_assert_str_eq(run("reschedule", "a", "", "3", NULL)->str, "delayed");
    ck_assert_str_eq(noted("l", "a"), "4000000000.250000 p n");
    ck_assert_str_eq(run("reschedule", "a", "+900", "", NULL)->str, "delayed");
    ck_assert_str_eq(noted("l", "a"), "");
    ck_assert_str_eq(noted("p", "a"), "3");
    check_sums();
}

/* Only what is due when its caller thinks, in `delayed` and by its record. It is still called by
 * the old time. */
TEST(put_off_until_later)
{
    double due = 4000000000.25;

    ck_assert_int_eq(run("put_off", NULL)->integer, 0);
    for (const char *name = "abcd"; *name; name++) {
        const char *id = text("%c", *name);

        push_when(id, "+100");
        ask("ZADD later:{q}:delayed %f %s", due, id);
        ask("HSET later:{q}:records %s %s", id,
            text("p=1\nl=%f p n\n", *name == 'b' ? due + 1 : due));
    }
    ask("ZADD later:{q}:delayed 4000000000.5 c");
    ask("HSET later:{q}:records d p=1");
    arg("a"), argf("%f", due), arg("4000000100.500000");
    arg("b"), argf("%f", due), arg("4000000100.500000");
    arg("c"), argf("%f", due), arg("4000000100.500000");
    arg("d"), argf("%f", due), arg("4000000100.500000");
    ck_assert_int_eq(run("put_off", "nobody", "4000000000.25", "4000000100", NULL)->integer, 1);
    ck_assert_str_eq(score_text("delayed", "a"), "4000000100.5");
    ck_assert_str_eq(noted("l", "a"), "4000000100.500000 p n");
    ck_assert_str_eq(noted("p", "a"), "1");
    ck_assert_str_eq(score_text("delayed", "b"), "4000000000.25");
    ck_assert_str_eq(score_text("delayed", "c"), "4000000000.5");
    ck_assert_str_eq(score_text("delayed", "d"), "4000000000.25");
    ck_assert_int_eq(hasten(due, "a"), 1);
    ck_assert_str_eq(members("ready"), "a");
    check_sums();
}
