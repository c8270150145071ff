/* test_adopt.c: members that are their own documents, put by a plain ZADD; and junk. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN      "{\"type\":\"mail.send\"}"
#define PLAIN_SHA1 "dc7523b049118a12ee3f6ee6f15a7a1db2a30e5f"
#define HELLO_SHA1 "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"
#define EMPTY_SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define LATER      "{\"type\":\"later\"}"
#define LATER_SHA1 "869b7bdcb8bc78f01476ef71ba5ca4068c300222"

/* How many jobs a migrate promoted. */
static long long promote(void)
{
    return run("migrate", "500", "0", "", NULL)->element[0]->integer;
}

/* ---- in ready */

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
    for (int i = 2; i <= 99; i++)
        ask("HSET %s %s-%d x", key("jobs"), PLAIN_SHA1, i);
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ck_assert_str_eq(told(reserve('t', 1), 0, ID), PLAIN_SHA1 "-100");
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

START_TEST(an_id_in_ready_may_look_like_a_document)
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

START_TEST(big_ready_members_are_bounded)
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

/* ---- in delayed */

START_TEST(a_plain_delayed_member_is_adopted)
{
    ask("ZADD %s 1700000000.25 %s", key("delayed"), LATER);
    push_when("a", "+100");
    check_sums();
    ck_assert_int_eq(promote(), 1);
    ck_assert_str_eq(members("ready"), LATER_SHA1);
    ck_assert_str_eq(score_text("ready", LATER_SHA1), "1700000000.25");
    ck_assert_str_eq(field("jobs", LATER_SHA1), LATER);
    ck_assert_int_eq(stat_of("adopted"), 1);
    check_sums();
    check_wake();

    ask("ZADD %s 1 %s", key("delayed"), LATER);
    promote();
    ask("ZADD %s 1 %s", key("delayed"), LATER);
    promote();
    ck_assert_str_eq(members("ready"),
                     LATER_SHA1 "-2 " LATER_SHA1 "-3 " LATER_SHA1); /* by their times */
    check_sums();
}
END_TEST

START_TEST(a_plain_member_before_its_time_stays)
{
    double due = now() + 100;

    ask("ZADD %s %s %s", key("delayed"), text("%.6f", due), LATER);
    ck_assert_int_eq(promote(), 0);
    ck_assert_str_eq(members("delayed"), LATER);
    ck_assert_int_eq(size_of("jobs"), 0);
    check_sums();
}
END_TEST

START_TEST(junk_in_delayed_comes_to_a_worker)
{
    ask("ZADD %s 1 hello 2 %b -inf no", key("delayed"), "", (size_t)0);
    ck_assert_int_eq(promote(), 3);
    check_sums();
    ck_assert_uint_eq(reserve('t', 10)->elements, 16);
    ck_assert_int_eq(stat_of("adopted"), 3);
    check_sums();
}
END_TEST

START_TEST(an_id_in_delayed_may_look_like_a_document)
{
    run("push", "0", "new", LATER, "+100", "0", "{}", NULL);
    make_due("delayed");
    promote();
    ck_assert_str_eq(members("ready"), LATER);
    ck_assert_int_eq(stat_of("adopted"), 0);
    check_sums();
}
END_TEST

START_TEST(big_delayed_members_are_bounded)
{
    size_t len = 100000;
    char *document = malloc(len);
    long long promoted;

    memset(document, ' ', len);
    document[0] = '{';
    for (int i = 0; i < 120; i++) {
        document[1] = (char)('A' + i % 26);
        document[2] = (char)('A' + i / 26);
        ask("ZADD %s %d %b", key("delayed"), i, document, len);
    }
    free(document);
    promoted = promote();
    ck_assert_int_ge(promoted, 3);
    ck_assert_int_le(promoted, 10);
    check_sums();
    while (promote() > 0)
        check_sums();
    ck_assert_int_eq(size_of("ready"), 120);
    ck_assert_int_eq(stat_of("adopted"), 120);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_plain_member_is_adopted,
        equal_bytes_get_another_id_when_known,
        the_search_for_an_id_is_bounded,
        no_member_is_lost_for_being_junk,
        an_id_in_ready_may_look_like_a_document,
        strange_scores_are_told_and_restored,
        big_ready_members_are_bounded,
        a_plain_delayed_member_is_adopted,
        a_plain_member_before_its_time_stays,
        junk_in_delayed_comes_to_a_worker,
        an_id_in_delayed_may_look_like_a_document,
        big_delayed_members_are_bounded,
        NULL,
    };

    return harness_main("adopt", tests);
}
