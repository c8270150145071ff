/* test_reserve.c: reserve: what it hands out, how much, and what it adopts. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN      "{\"type\":\"mail.send\"}"
#define PLAIN_SHA1 "dc7523b049118a12ee3f6ee6f15a7a1db2a30e5f"
#define HELLO_SHA1 "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
#define EMPTY_SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"

enum part { ID, SCORE, ATTEMPTS, CRASHES, DOCUMENT };

/* What reserve told of its i-th job (from 0). */
static const char *told(const redisReply *reply, size_t i, enum part part)
{
    ck_assert_uint_gt(reply->elements, 1 + 5 * i + part);
    return reply->element[1 + 5 * i + part]->str;
}

static size_t jobs_in(const redisReply *reply)
{
    ck_assert_uint_eq(reply->elements % 5, 1);
    return reply->elements / 5;
}

static redisReply *reserve_bytes(char token, int limit, long bytes)
{
    char name[17];

    memset(name, token, 16);
    name[16] = '\0';
    return run("reserve", name, "30", text("%d", limit), text("%ld", bytes), "0", NULL);
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

START_TEST(the_first_are_handed_out)
{
    const redisReply *reply;
    const char *scores[3];
    double before;

    push("a");
    push("b");
    run("push", "0", "new", "c", "", "5", "{\"type\":\"c\"}", NULL);
    ask("HSET %s a 3", key("attempts"));
    ask("HSET %s a 0 b 2", key("crashes"));
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
        ck_assert_str_eq(told(reply, i, SCORE), scores[i]);
    ck_assert_str_eq(told(reply, 0, ATTEMPTS), "");
    ck_assert_str_eq(told(reply, 1, ATTEMPTS), "3");
    ck_assert_str_eq(told(reply, 0, CRASHES), "");
    ck_assert_str_eq(told(reply, 1, CRASHES), "0");
    ck_assert_str_eq(told(reply, 2, CRASHES), "2");
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "{\"type\":\"c\"}");
    ck_assert_str_eq(members("ready"), "");
    ck_assert_int_eq(size_of("reserved"), 3);
    ck_assert_double_ge(score("reserved", member('t', "a")), before + 30);
    ck_assert_double_le(score("reserved", member('t', "a")), now() + 30);
    ck_assert_str_eq(field("jobs", "c"), "{\"type\":\"c\"}");
    ck_assert_str_eq(field("attempts", "a"), "3");
    check_sums();
    check_wake();
}
END_TEST

START_TEST(the_limit_holds_and_the_wake_stays)
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
END_TEST

START_TEST(at_most_five_hundred)
{
    push_sized(0, 501, 10);
    run_error("reserve", "tttttttttttttttt", "30", "501", "262144", "0", NULL);
    ck_assert_uint_eq(jobs_in(reserve('t', 500)), 500);
    ck_assert_str_eq(members("ready"), "0500");
    check_wake();
    check_sums();
}
END_TEST

START_TEST(the_order_is_kept_over_steps)
{
    const redisReply *reply;

    push_sized(0, 100, 10);
    reply = reserve('t', 100);
    for (size_t i = 0; i < 100; i++)
        ck_assert_str_eq(told(reply, i, ID), text("%04zu", i));
}
END_TEST

START_TEST(a_paused_queue_gives_nothing)
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
END_TEST

START_TEST(after_the_deadline_nothing_is_taken)
{
    double time = now();

    push("a");
    ask("DEL %s", key("wake"));
    ck_assert_uint_eq(
        jobs_in(run("reserve", "tttttttttttttttt", "30", "1", "1000", text("%.6f", time), NULL)),
        0);
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_int_eq(size_of("wake"), 1);
    ck_assert_uint_eq(jobs_in(run("reserve", "tttttttttttttttt", "30", "1", "1000",
                                  text("%.6f", time + 60), NULL)),
                      1);
    check_sums();
}
END_TEST

START_TEST(bytes_bound_a_call)
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
END_TEST

START_TEST(a_big_one_behind_small_ones_waits)
{
    push_sized(0, 20, 10);
    push_sized(20, 1, 300000);
    push_sized(21, 5, 10);
    ck_assert_uint_eq(jobs_in(reserve('a', 500)), 20);
    ck_assert_uint_eq(jobs_in(reserve('b', 500)), 1);
    ck_assert_uint_eq(jobs_in(reserve('c', 500)), 5);
}
END_TEST

/* How many fields or members the widest HMGET or ZRANGE of a reserve asked for, and all HMGETs
 * together, by MONITOR. */
static void watch_reserve(int limit, size_t *taken, int *widest, int *all)
{
    redisContext *monitor = server_connect(&harness_server);
    redisReply *line = redisCommand(monitor, "MONITOR");
    bool end = false;

    *widest = *all = 0;
    freeReplyObject(line);
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

START_TEST(little_is_read_beyond_the_budget)
{
    size_t taken;
    int widest, all;

    push_sized(0, 40, 10); /* the average misleads */
    push_sized(40, 200, 200000);
    watch_reserve(240, &taken, &widest, &all);
    ck_assert_uint_eq(taken, 41);
    ck_assert_int_gt(all, 40);
    ck_assert_int_le(widest, 16);
    ck_assert_int_le(all, 41 + 16);
    harness_free();
    watch_reserve(240, &taken, &widest, &all);
    ck_assert_uint_eq(taken, 1);
    ck_assert_int_le(all, 4);
}
END_TEST

START_TEST(a_plain_member_is_adopted)
{
    const redisReply *reply;

    ask("ZADD %s 1700000000.5 %s", key("ready"), PLAIN);
    push("a");
    check_sums();
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 2);
    ck_assert_str_eq(told(reply, 0, ID), PLAIN_SHA1);
    ck_assert_str_eq(told(reply, 0, SCORE), "1700000000.5");
    ck_assert_str_eq(told(reply, 0, DOCUMENT), PLAIN);
    ck_assert_str_eq(told(reply, 1, ID), "a");
    ck_assert_str_eq(members("reserved"), text("%s %s", member('t', "a"), member('t', PLAIN_SHA1)));
    ck_assert_str_eq(field("jobs", PLAIN_SHA1), PLAIN);
    ck_assert_int_eq(stat_of("adopted"), 1);
    check_sums();
    check_wake();
}
END_TEST

START_TEST(equal_bytes_get_another_id_when_known)
{
    static const char *const ids[] = { PLAIN_SHA1, PLAIN_SHA1 "-2", PLAIN_SHA1 "-3" };

    for (size_t i = 0; i < 3; i++) {
        ask("ZADD %s 0 %s", key("ready"), PLAIN);
        ck_assert_str_eq(told(reserve('t', 1), 0, ID), ids[i]);
        ck_assert_str_eq(field("jobs", ids[i]), PLAIN);
    }
    ck_assert_int_eq(stat_of("adopted"), 3);
    run("ack", member('t', ids[1]), NULL);
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ck_assert_str_eq(told(reserve('t', 1), 0, ID), ids[1]);
    check_sums();
}
END_TEST

START_TEST(the_search_for_an_id_is_bounded)
{
    const char *id;

    ask("HSET %s %s x", key("jobs"), PLAIN_SHA1);
    for (int i = 2; i <= 100; i++)
        ask("HSET %s %s-%d x", key("jobs"), PLAIN_SHA1, i);
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    id = told(reserve('t', 1), 0, ID);
    ck_assert_mem_eq(id, PLAIN_SHA1 "-", 41);
    ck_assert_double_eq_tol(strtod(id + 41, NULL) / 1e6, now(), 1.0); /* microseconds */
    ck_assert_str_eq(field("jobs", id), PLAIN);
    ck_assert_int_eq(size_of("jobs"), 101);
}
END_TEST

START_TEST(no_member_is_lost_for_being_junk)
{
    const redisReply *reply;

    ask("ZADD %s 1 hello 2 %b 3 %b", key("ready"), "", (size_t)0, "\0\xff\r\n", (size_t)4);
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 3);
    ck_assert_str_eq(told(reply, 0, ID), HELLO_SHA1);
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "hello");
    ck_assert_str_eq(told(reply, 1, ID), EMPTY_SHA1);
    ck_assert_uint_eq(reply->element[15]->len, 4);
    ck_assert_mem_eq(reply->element[15]->str, "\0\xff\r\n", 4);
    ck_assert_int_eq(size_of("jobs"), 3);
    check_sums();
}
END_TEST

START_TEST(an_id_may_look_like_a_document)
{
    run("push", "0", "new", PLAIN, "", "0", "{\"type\":\"other\"}", NULL);
    const redisReply *reply = reserve('t', 1);

    ck_assert_str_eq(told(reply, 0, ID), PLAIN);
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "{\"type\":\"other\"}");
    ck_assert_int_eq(stat_of("adopted"), 0);
    check_sums();
}
END_TEST

START_TEST(strange_scores_are_told_and_restored)
{
    static const char *const scores[] = { "-inf",   "0",  "1e-07", "1700000000.1234567",
                                          "1e+300", "inf" };
    const redisReply *reply;

    for (size_t i = 0; i < 6; i++)
        ask("ZADD %s %s %s", key("ready"), scores[i], text("{%zu}", i));
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 6);
    for (size_t i = 0; i < 6; i++) {
        const char *id = told(reply, i, ID), *before = told(reply, i, SCORE);

        ck_assert_double_eq(strtod(before, NULL), strtod(scores[i], NULL));
        ck_assert_str_eq(flat(run("return", member('t', id), before, "0", "held", NULL)), "");
        ck_assert_str_eq(score_text("ready", id), before);
    }
    check_sums();
}
END_TEST

START_TEST(big_plain_members_are_bounded)
{
    size_t len = 200000;
    char *document = malloc(len);

    memset(document, ' ', len);
    for (int i = 0; i < 30; i++) {
        document[0] = '{';
        document[1] = (char)('A' + i);
        ask("ZADD %s %d %b", key("ready"), i, document, len);
    }
    free(document);
    ck_assert_uint_eq(jobs_in(reserve_bytes('t', 500, 500000)), 2);
    ck_assert_int_eq(size_of("jobs"), 2);
    check_sums();
}
END_TEST

/* token, lease, limit, bytes, deadline: one of them wrong. */
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
};

START_TEST(what_is_refused_changes_nothing)
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
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_first_are_handed_out,
        the_limit_holds_and_the_wake_stays,
        at_most_five_hundred,
        the_order_is_kept_over_steps,
        a_paused_queue_gives_nothing,
        after_the_deadline_nothing_is_taken,
        bytes_bound_a_call,
        a_big_one_behind_small_ones_waits,
        little_is_read_beyond_the_budget,
        a_plain_member_is_adopted,
        equal_bytes_get_another_id_when_known,
        the_search_for_an_id_is_bounded,
        no_member_is_lost_for_being_junk,
        an_id_may_look_like_a_document,
        strange_scores_are_told_and_restored,
        big_plain_members_are_bounded,
        what_is_refused_changes_nothing,
        NULL,
    };

    return harness_main("reserve", tests);
}
