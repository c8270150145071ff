/* test_reserve.c: reserve: what it hands out, how much, and what it adopts. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* The same with lengths in place of documents; and the i-th of them. */
static redisReply *reserve_beside(char token, int limit, long bytes)
{
    char whole[17] = "";

    memset(whole, token, 16);
    return run("reserve", whole, "30", text("%d", limit), text("%ld/beside", bytes), "0", NULL);
}
static long long length_of(const redisReply *reply, size_t i)
{
    return reply->element[3 + 3 * i]->integer;
}

/* Push `count` jobs whose documents have `size` bytes. */
static void push_sized(int from, int count, size_t size)
{
    char *document = malloc(size);

    memset(document, ' ', size);
    for (int i = from; i < from + count; i++) {
        arg("0");
        arg("new");
        argf("%04d", i);
        arg("");
        arg("0");
        arg_bytes(document, size);
        run("push", NULL);
    }
    free(document);
}

TEST(the_first_are_handed_out)
{
    const redisReply *reply;
    const char *scores[3];
    double before;

    push("a");
    push("b");
    run("push", "0", "new", "c", "", "5", "{\"type\":\"c\"}", NULL);
    note("a", "a", "3");
    note("c", "a", "0");
    note("c", "b", "2");
    scores[0] = score_text("ready", "c");
    scores[1] = score_text("ready", "a");
    scores[2] = score_text("ready", "b");
    before = now();
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 3);
    ck_assert_double_ge(strtod(reply->element[0]->str, NULL), before);
    ck_assert_double_le(strtod(reply->element[0]->str, NULL), now());
    ck_assert_str_eq(told(reply, 0, ID), "c");
    ck_assert_str_eq(told(reply, 1, ID), "a");
    ck_assert_str_eq(told(reply, 2, ID), "b");
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(ask("ZSCORE %s %s", held_by("tttttttttttttttt"), told(reply, i, ID))->str,
                         scores[i]);
    ck_assert_str_eq(told(reply, 0, RECORD), "p=5\n");
    ck_assert_str_eq(told(reply, 1, RECORD), "a=3\nc=0\n");
    ck_assert_str_eq(told(reply, 2, RECORD), "c=2\n");
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "{\"type\":\"c\"}");
    ck_assert_str_eq(members("ready"), "");
    ck_assert_int_eq(size_of("reserved"), 3);
    ck_assert_double_ge(score("reserved", mine("a")), before + 30);
    ck_assert_double_le(score("reserved", mine("a")), now() + 30);
    ck_assert_str_eq(field("jobs", "c"), "{\"type\":\"c\"}");
    ck_assert_str_eq(noted("a", "a"), "3");
    check_sums();
    check_wake();
}

TEST(the_limit_holds_and_the_wake_stays)
{
    for (int i = 0; i < 5; i++)
        push(text("%d", i));
    ask("DEL %s", key("wake")); /* as BLPOP does */
    ck_assert_uint_eq(jobs_in(reserve('a', 3)), 3);
    ck_assert_str_eq(members("ready"), "3 4");
    check_wake();
    ck_assert_uint_eq(jobs_in(reserve('b', 3)), 2);
    check_wake();
    ck_assert_uint_eq(jobs_in(reserve('c', 3)), 0);
    check_wake();
    check_sums();
}

TEST(at_most_five_hundred)
{
    push_sized(0, 501, 10);
    run_error("reserve", "tttttttttttttttt", "30", "501", "262144", "0", NULL);
    ck_assert_uint_eq(jobs_in(reserve('t', 500)), 500);
    ck_assert_str_eq(members("ready"), "0500");
    check_wake();
    check_sums();
}

TEST(the_order_is_kept_over_steps)
{
    const redisReply *reply;

    push_sized(0, 100, 10);
    reply = reserve('t', 100);
    for (size_t i = 0; i < 100; i++)
        ck_assert_str_eq(told(reply, i, ID), text("%04zu", i));
}

TEST(a_paused_queue_gives_nothing)
{
    push("a");
    run("pause", NULL);
    ck_assert_uint_eq(jobs_in(reserve('t', 1)), 0);
    ck_assert_str_eq(members("ready"), "a");
    check_wake();
    run("resume", NULL);
    check_wake();
    ck_assert_uint_eq(jobs_in(reserve('t', 1)), 1);
    check_wake();
}

TEST(after_the_deadline_nothing_is_taken)
{
    double time = now();

    push("a");
    ask("DEL %s", key("wake"));
    ck_assert_uint_eq(
        jobs_in(run("reserve", "tttttttttttttttt", "30", "1", "1000", text("%.6f", time), NULL)),
        0);
    ck_assert_uint_eq(jobs_in(run("reserve", "tttttttttttttttt", "30", "1", "1000",
                                  text("%.6f/idle", time), NULL)),
                      0);
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_int_eq(size_of("wake"), 1);
    ck_assert_uint_eq(jobs_in(run("reserve", "tttttttttttttttt", "30", "1", "1000",
                                  text("%.6f", time + 60), NULL)),
                      1);
    check_sums();
}

TEST(queues_with_a_wake_come_first)
{
    uint64_t before;

    push("a");
    ask("LPUSH %s 1", "later:{high}:wake");
    before = digest();
    for (int i = 0; i < 3; i++) {
        go_ahead("later:{top}:wake");
        go_ahead("later:{high}:wake");
        go_ahead("later:{mid}:wake");
        go_ahead("later:{high}:wake");
        ck_assert_str_eq(strchr(reserve('t', i == 0 ? 1 : 5)->element[0]->str, ' '), " ahead 2 4");
        ck_assert(digest() == before);
    }
    ask("DEL %s", "later:{high}:wake");
    go_ahead("later:{top}:wake");
    go_ahead("later:{high}:wake");
    ck_assert_uint_eq(jobs_in(reserve('t', 1)), 1);
    go_ahead("later:{top}:wake");
    ck_assert_ptr_null(strchr(reserve('u', 1)->element[0]->str, ' '));
}

/* A single job takes a path of its own, which must do everything too. */
TEST(one_behind_a_wake_is_taken_as_any)
{
    const redisReply *reply;
    const char *was;
    double before = now();

    push("a");
    note("a", "a", "3");
    was = score_text("ready", "a");
    ask("ZADD %s 1 a", key("dead"));
    ask("ZADD %s 99999999999 a", key("delayed"));
    reply = reserve_idle('t', 16);
    ck_assert_uint_eq(jobs_in(reply), 1);
    ck_assert_str_eq(told(reply, 0, ID), "a");
    ck_assert_str_eq(told(reply, 0, RECORD), "a=3\n");
    ck_assert_str_eq(told(reply, 0, DOCUMENT), field("jobs", "a"));
    ck_assert_str_eq(strchr(reply->element[0]->str, ' ') + 1, was);
    ck_assert_str_eq(ask("ZSCORE %s a", held_by("tttttttttttttttt"))->str, was);
    ck_assert_double_ge(score("reserved", mine("a")), before + 30);
    ck_assert_str_eq(members("ready"), "");
    ck_assert_int_eq(size_of("delayed") + size_of("dead"), 0);
    check_sums();
    check_wake();
}

TEST(one_behind_a_wake_that_is_not_plain_is_adopted)
{
    ask("ZADD %s 5 {\"type\":\"x\"}", key("ready"));
    ck_assert_uint_eq(strlen(told(reserve_idle('t', 16), 0, ID)), 40);
    ask("ZADD %s 5 odd\nid", key("ready"));
    ask("HSET %s odd\nid {\"type\":\"y\"}", key("jobs"));
    ck_assert_uint_eq(strlen(told(reserve_idle('u', 16), 0, ID)), 40);
    ck_assert_int_eq(size_of("jobs"), 2);
    check_sums();
    check_wake();
}

/* Jobs under the token t go back to their places. */
static void come_back(const char *ids)
{
    for (; *ids; ids++)
        run("return", mine(text("%c", *ids)), "0", "held", NULL);
    ask("DEL %s", key("wake"));
}

/* How many are left, as an answer says. */
static const char *left(const redisReply *reply)
{
    const char *text = strchr(reply->element[0]->str, ' ');

    text = text ? strchr(text + 1, ' ') : NULL;
    return text ? text + 1 : "";
}

TEST(who_was_idle_gets_one_where_jobs_came_back)
{
    const redisReply *reply;

    for (const char *id = "abcdef"; *id; id++)
        push(text("%c", *id));
    reserve('t', 6);
    run("return", mine("f"), "60", "held", NULL);
    run("return", mine("e"), "0", "suspect", NULL);
    ck_assert_int_eq(stat_of("singly"), 0);
    come_back("abcd");
    ck_assert_double_ge((double)stat_of("singly"), now() + 5);
    reply = reserve_idle('u', 16);
    ck_assert_uint_eq(jobs_in(reply), 1);
    ck_assert_str_eq(told(reply, 0, ID), "a");
    ck_assert_str_eq(left(reply), "4");
    check_wake();
    ck_assert_str_eq(left(reserve('v', 1)), "");
    ck_assert_str_eq(members("ready"), "c d e");
    ck_assert_uint_eq(jobs_in(reserve('w', 2)), 2);
    reply = reserve_idle('x', 16);
    ck_assert_uint_eq(jobs_in(reply), 1);
    ck_assert_str_eq(left(reply), "");
    ck_assert_uint_eq(jobs_in(reserve_idle('y', 16)), 0);
    check_sums();
    check_wake();
}

TEST(one_of_them_that_is_not_plain_is_adopted)
{
    const redisReply *reply;

    push("a");
    push("b");
    reserve('t', 2);
    come_back("ab");
    ask("ZADD %s 5 {\"type\":\"x\"}", key("ready"));
    reply = reserve_idle('u', 16);
    ck_assert_uint_eq(jobs_in(reply), 1);
    ck_assert_uint_eq(strlen(told(reply, 0, ID)), 40);
    ck_assert_str_eq(left(reply), "2");
    check_sums();
    check_wake();
}

TEST(after_a_while_who_was_idle_gets_all)
{
    static const char *const over[] = { "1", "odd", "-5" };

    for (const char *id = "abc"; *id; id++)
        push(text("%c", *id));
    for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
        reserve('t', 3);
        come_back("abc");
        ask("HSET %s singly %s", key("stats"), over[i]);
        ck_assert_uint_eq(jobs_in(reserve_idle('t', 16)), 3);
        come_back("abc");
    }
    check_sums();
}

TEST(bytes_bound_a_call)
{
    push_sized(0, 10, 100000);
    ck_assert_uint_eq(jobs_in(reserve_bytes('a', 10, 262144)), 2);
    ck_assert_uint_eq(jobs_in(reserve_bytes('b', 10, 300000)), 3); /* to the byte */
    ck_assert_uint_eq(jobs_in(reserve_bytes('c', 10, 299999)), 2);
    ck_assert_uint_eq(jobs_in(reserve_bytes('d', 10, 99999)), 1); /* at least one */
    ck_assert_uint_eq(jobs_in(reserve_bytes('e', 10, 0)), 1);
    ck_assert_uint_eq(jobs_in(reserve_bytes('f', 10, 262144)), 1);
    check_sums();
    check_wake();
}

TEST(a_big_one_behind_small_ones_waits)
{
    push_sized(0, 20, 10);
    push_sized(20, 1, 300000);
    push_sized(21, 5, 10);
    ck_assert_uint_eq(jobs_in(reserve('a', 500)), 20);
    ck_assert_uint_eq(jobs_in(reserve('b', 500)), 1);
    ck_assert_uint_eq(jobs_in(reserve('c', 500)), 5);
}

/* How many fields or members the widest HMGET or ZRANGE of a reserve asked for, and all HMGETs
 * together, by MONITOR. */
static void watch_reserve(int limit, size_t *taken, int *widest, int *all)
{
    redisContext *monitor = server_connect(&harness_server);
    redisReply *line = redisCommand(monitor, "MONITOR");
    bool end = false;

    *widest = *all = 0;
    freeReplyObject(line);
    ask("DEL %s %s", key("reserved"), held_by("tttttttttttttttt"));
    *taken = jobs_in(reserve('t', limit));
    ask("ECHO end");
    while (!end) {
        void *reply;
        const char *hmget;
        int asked = -2;

        ck_assert_int_eq(redisGetReply(monitor, &reply), REDIS_OK);
        line = reply;
        end = strstr(line->str, "\"ECHO\" \"end\"") != NULL;
        hmget = strstr(line->str, "\"HMGET\"");
        for (const char *c = hmget; c; c = strstr(c + 1, " \""))
            asked++;
        if (hmget && strstr(hmget, ":jobs\"")) {
            *all += asked;
            *widest = asked > *widest ? asked : *widest;
        }
        freeReplyObject(line);
    }
    redisFree(monitor);
}

/* A job that is adopted, or gets another id, is in `jobs` under the id in the answer, with its
 * length. */
TEST(beside_the_answer_lengths_are_told)
{
    const char *plain = "{\"type\":\"p\"}", *bare = "no-document";
    const redisReply *reply;
    double place;

    ask("ZADD %s 0 %s 1 %s", key("ready"), plain, bare);
    push("a");
    note("a", "a", "3");
    ask("HSET %s %s 123", key("jobs"), "a b");
    ask("ZADD %s 2 %s", key("ready"), "a b");
    place = score("ready", "a");
    reply = reserve_beside('t', 10, 262144);
    ck_assert_uint_eq(jobs_in(reply), 4);
    for (size_t i = 0; i < 4; i++) {
        const char *document = field("jobs", told(reply, i, ID));
        const char *const wanted[] = { plain, bare, "123", "{\"type\":\"t\"}" };

        ck_assert_str_eq(document, wanted[i]);
        ck_assert_int_eq(reply->element[3 + 3 * i]->type, REDIS_REPLY_INTEGER);
        ck_assert_int_eq(length_of(reply, i), (long long)strlen(document));
    }
    ck_assert_str_eq(told(reply, 3, ID), "a");
    ck_assert_str_eq(told(reply, 3, RECORD), "a=3\n");
    ck_assert_double_eq(strtod(ask("ZSCORE %s a", held_by("tttttttttttttttt"))->str, NULL), place);
    ck_assert_str_eq(field("jobs", "a b"), "");
    check_sums();
    check_wake();
}

TEST(beside_the_answer_bytes_bound_a_call_too)
{
    const redisReply *reply;

    push_sized(0, 1, 3000);
    push_sized(1, 9, 1000);
    reply = reserve_beside('a', 10, 2999);
    ck_assert_uint_eq(jobs_in(reply), 1);
    ck_assert_int_eq(length_of(reply, 0), 3000);
    reply = reserve_beside('b', 10, 4999);
    ck_assert_uint_eq(jobs_in(reply), 4);
    ck_assert_str_eq(told(reply, 3, ID), "0004");
    run_error("reserve", "tttttttttttttttt", "30", "1", "beside", "0", NULL);
    run_error("reserve", "tttttttttttttttt", "30", "1", "1/besides", "0", NULL);
    check_sums();
    check_wake();
}

TEST(little_is_read_beyond_the_budget)
{
    size_t taken;
    int widest, all;

    push_sized(0, 40, 10); /* the average misleads */
    push_sized(40, 200, 200000);
    watch_reserve(240, &taken, &widest, &all);
    ck_assert_uint_eq(taken, 41);
    ck_assert_int_gt(all, 40);
    ck_assert_int_le(widest, 32);
    ck_assert_int_le(all, 41 + 32);
    harness_free();
    watch_reserve(240, &taken, &widest, &all);
    ck_assert_uint_eq(taken, 1);
    ck_assert_int_le(all, 4);
}

/* token, lease, limit, bytes, deadline: one of them is wrong. */
static const char *const refused[][5] = {
    { "", "30", "1", "1", "0" },
    { "ttttttttttttttt", "30", "1", "1", "0" },
    { "ttttttttttttttttt", "30", "1", "1", "0" },
    { "tttttttttttttttT", "30", "1", "1", "0" },
    { "ttttttttttttttt:", "30", "1", "1", "0" },
    { "tttttttttttttttt", "inf", "1", "1", "0" },
    { "tttttttttttttttt", "nan", "1", "1", "0" },
    { "tttttttttttttttt", "0x10", "1", "1", "0" },
    { "tttttttttttttttt", "-1", "1", "1", "0" },
    { "tttttttttttttttt", "0", "1", "1", "0" },
    { "tttttttttttttttt", "", "1", "1", "0" },
    { "tttttttttttttttt", "30", "0", "1", "0" },
    { "tttttttttttttttt", "30", "-1", "1", "0" },
    { "tttttttttttttttt", "30", "1.5", "1", "0" },
    { "tttttttttttttttt", "30", "nan", "1", "0" },
    { "tttttttttttttttt", "30", "0x10", "1", "0" },
    { "tttttttttttttttt", "30", "1", "nan", "0" },
    { "tttttttttttttttt", "30", "1", "-1", "0" },
    { "tttttttttttttttt", "30", "1", "", "0" },
    { "tttttttttttttttt", "30", "1", "1", "nan" },
    { "tttttttttttttttt", "30", "1", "1", "-1" },
    { "tttttttttttttttt", "30", "1", "1", "" },
    { "tttttttttttttttt", "30", "1", "1", "/idle" },
    { "tttttttttttttttt", "30", "1", "1", "-1/idle" },
    { "tttttttttttttttt", "30", "1", "1", "0/idle/idle" },
    { "tttttttttttttttt", "30", "1", "1", "0idle" },
};

TEST(what_is_refused_changes_nothing)
{
    uint64_t before;

    push("a");
    before = digest();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *const *row = refused[i];

        ck_assert_mem_eq(run_error("reserve", row[0], row[1], row[2], row[3], row[4], NULL),
                         "ERR reserve: ", 13);
        ck_assert_msg(digest() == before, "row %zu changed something", i);
    }
    run_error("reserve", "tttttttttttttttt", "30", "1", "1", NULL);
    run_error("reserve", "tttttttttttttttt", "30", "1", "1", "0", "0", NULL);
    ck_assert_uint_eq(digest(), before);
}
