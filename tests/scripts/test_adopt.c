/* test_adopt.c: members that are their own documents, from a plain ZADD; and junk. */
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
    return run("migrate", "500", NULL)->element[0]->integer;
}

/* ---- in ready */

TEST(a_plain_member_is_adopted)
{
    const redisReply *reply;

    ask("ZADD %s 1700000000.5 %s", key("ready"), PLAIN);
    push("a");
    check_sums();
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 2);
    ck_assert_str_eq(told(reply, 0, ID), PLAIN_SHA1);
    ck_assert_str_eq(told(reply, 0, DOCUMENT), PLAIN);
    ck_assert_str_eq(told(reply, 1, ID), "a");
    ck_assert_str_eq(members("reserved"), text("%s %s", mine(PLAIN_SHA1), mine("a")));
    ck_assert_str_eq(field("jobs", PLAIN_SHA1), PLAIN);
    ck_assert_int_eq(stat_of("adopted"), 1);
    check_sums();
    check_wake();
}

TEST(equal_bytes_get_another_id_when_known)
{
    static const char *const ids[] = { PLAIN_SHA1, PLAIN_SHA1 "-2", PLAIN_SHA1 "-3" };

    for (size_t i = 0; i < 3; i++) {
        ask("ZADD %s 0 %s", key("ready"), PLAIN);
        ck_assert_str_eq(told(reserve((char)('a' + i), 1), 0, ID), ids[i]);
        ck_assert_str_eq(field("jobs", ids[i]), PLAIN);
    }
    ck_assert_int_eq(stat_of("adopted"), 3);
    run("ack", member('b', ids[1]), NULL);
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ck_assert_str_eq(told(reserve('t', 1), 0, ID), ids[1]);
    check_sums();
}

TEST(the_search_for_an_id_is_bounded)
{
    const char *id;

    ask("HSET %s %s x", key("jobs"), PLAIN_SHA1);
    for (int i = 2; i <= 99; i++)
        ask("HSET %s %s-%d x", key("jobs"), PLAIN_SHA1, i);
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ck_assert_str_eq(told(reserve('u', 1), 0, ID), PLAIN_SHA1 "-100");
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    id = told(reserve('t', 1), 0, ID);
    ck_assert_mem_eq(id, PLAIN_SHA1 "-", 41);
    ck_assert_double_eq_tol(strtod(id + 41, NULL) / 1e6, now(), 1.0); /* microseconds */
    ck_assert_str_eq(field("jobs", id), PLAIN);
    ck_assert_int_eq(size_of("jobs"), 101);
}

TEST(no_member_is_lost_for_being_junk)
{
    const redisReply *reply;

    ask("ZADD %s 1 hello 2 %b 3 %b", key("ready"), "", (size_t)0, "\0\xff\r\n", (size_t)4);
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 3);
    ck_assert_str_eq(told(reply, 0, ID), HELLO_SHA1);
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "hello");
    ck_assert_str_eq(told(reply, 1, ID), EMPTY_SHA1);
    ck_assert_uint_eq(reply->element[9]->len, 4);
    ck_assert_mem_eq(reply->element[9]->str, "\0\xff\r\n", 4);
    ck_assert_int_eq(size_of("jobs"), 3);
    check_sums();
}

TEST(an_id_in_ready_may_look_like_a_document)
{
    run("push", "0", "new", PLAIN, "", "0", "{\"type\":\"other\"}", NULL);
    const redisReply *reply = reserve('t', 1);

    ck_assert_str_eq(told(reply, 0, ID), PLAIN);
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "{\"type\":\"other\"}");
    ck_assert_int_eq(stat_of("adopted"), 0);
    check_sums();
}

TEST(strange_scores_are_told_and_restored)
{
    static const char *const scores[] = { "-inf",   "0",  "1e-07", "1700000000.1234567",
                                          "1e+300", "inf" };
    const redisReply *reply;

    for (size_t i = 0; i < 6; i++)
        ask("ZADD %s %s %s", key("ready"), scores[i], text("{%zu}", i));
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 6);
    for (size_t i = 0; i < 6; i++) {
        const char *id = told(reply, i, ID);

        ck_assert_str_eq(flat(run("return", mine(id), "0", "held", NULL)), "");
        ck_assert_double_eq(score("ready", id), strtod(scores[i], NULL));
    }
    check_sums();
}

TEST(big_ready_members_are_bounded)
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

/* ---- other bytes of the same SHA-1 */

/* The first 320 bytes of the two files of https://shattered.io: the common part, and the part that
 * differs. */
static const char shattered_head[] =
    "255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f4865696768"
    "742033203020522f547970652034203020522f537562747970652035203020522f46696c746572203620302052"
    "2f436f6c6f7253706163652037203020522f4c656e6774682038203020522f42697473506572436f6d706f6e65"
    "6e7420383e3e0a73747265616d0affd8fffe00245348412d3120697320646561642121212121852fec09233975"
    "9c39b1a1c63c4c97e1fffe01";
static const char *const shattered_tail[] = {
    "7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c1530a"
    "fedfb76038e972722fe7ad728f0e4904e046c230570fe9d41398abe12ef5bc942be33542a4802d98b5d70f2a33"
    "2ec37fac3514e74ddc0f2cc1a874cd0c78305a21566461309789606bd0bf3f98cda8044629a1",
    "7346dc9166b67e118f029ab621b2560ff9ca67cca8c7f85ba84c79030c2b3de218f86db3a90901d5df45c14f26"
    "fedfb3dc38e96ac22fe7bd728f0e45bce046d23c570feb141398bb552ef5a0a82be331fea48037b8b5d71f0e33"
    "2edf93ac3500eb4ddc0decc1a864790c782c76215660dd309791d06bd0af3f98cda4bc4629b1",
};
#define SHATTERED      320
#define SHATTERED_SHA1 "f92d74e3874587aaf443d1db961d4e26dde13e9c"

static void shattered(size_t which, unsigned char out[SHATTERED])
{
    const char *hex = text("%s%s", shattered_head, shattered_tail[which]);

    ck_assert_uint_eq(strlen(hex), 2 * (size_t)SHATTERED);
    for (size_t i = 0; i < SHATTERED; i++)
        out[i] = (unsigned char)strtoul(text("%.2s", hex + 2 * i), NULL, 16);
}

TEST(two_documents_of_one_sha1_are_two_jobs)
{
    unsigned char document[2][SHATTERED];
    const redisReply *reply;

    for (size_t i = 0; i < 2; i++) {
        shattered(i, document[i]);
        ask("ZADD %s %d %b", key("ready"), (int)i, document[i], sizeof document[i]);
    }
    ck_assert_mem_ne(document[0], document[1], SHATTERED);
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 2);
    ck_assert_str_eq(told(reply, 0, ID), SHATTERED_SHA1);
    ck_assert_str_eq(told(reply, 1, ID), SHATTERED_SHA1 "-2");
    for (size_t i = 0; i < 2; i++) {
        const redisReply *kept = ask("HGET %s %s", key("jobs"), told(reply, i, ID));

        ck_assert_uint_eq(kept->len, SHATTERED);
        ck_assert_mem_eq(kept->str, document[i], SHATTERED);
    }
    check_sums();
}

/* ---- ids that no push would have taken, by HSET and ZADD */

static void plant(const char *id, size_t len, const char *document)
{
    ask("HSET %s %b %s", key("jobs"), id, len, document);
    ask("ZADD %s 5 %b", key("ready"), id, len);
}

static const struct {
    const char *id;
    size_t len;
} bad_ids[] = {
    { "", 0 },       { "a b", 3 },      { "nul\0", 4 },       { "\0", 1 },
    { "line\n", 5 }, { "\x1b[31m", 5 }, { "caf\xc3\xa9", 5 }, { "del\x7f", 4 },
};

TEST_EACH(a_bad_id_becomes_another, COUNT(bad_ids))
{
    const redisReply *reply;

    plant(bad_ids[_i].id, bad_ids[_i].len, PLAIN);
    reply = reserve('t', 10);
    ck_assert_uint_eq(jobs_in(reply), 1);
    ck_assert_str_eq(told(reply, 0, ID), PLAIN_SHA1);
    ck_assert_str_eq(ask("ZSCORE %s " PLAIN_SHA1, held_by("tttttttttttttttt"))->str, "5");
    ck_assert_str_eq(told(reply, 0, DOCUMENT), PLAIN);
    ck_assert_int_eq(size_of("jobs"), 1);
    ck_assert_str_eq(members("reserved"), mine(PLAIN_SHA1));
    check_sums();
    run("ack", mine(PLAIN_SHA1), NULL);
    ck_assert_int_eq(size_of("jobs"), 0);
    check_sums();
}

TEST(an_id_of_200_characters_stays_and_one_of_201_does_not)
{
    char id[202];

    memset(id, 'x', sizeof id);
    plant(id, 200, PLAIN);
    ck_assert_str_eq(told(reserve('t', 1), 0, ID), text("%.200s", id));
    plant(id, 201, PLAIN);
    ck_assert_str_eq(told(reserve('u', 1), 0, ID), PLAIN_SHA1);
    ck_assert_int_eq(size_of("jobs"), 2);
}

TEST(bad_ids_of_one_document_stay_apart)
{
    for (int i = 0; i < 150; i++)
        plant(text("bad %d", i), strlen(text("bad %d", i)), PLAIN);
    ck_assert_uint_eq(jobs_in(reserve('t', 500)), 150);
    ck_assert_int_eq(size_of("jobs"), 150);
    ck_assert_int_eq(size_of("reserved"), 150);
    ck_assert_int_eq(stat_of("adopted"), 150);
    check_sums();
}

TEST(a_bad_id_that_is_its_own_document_stays_one_job)
{
    plant("{\"type\": \"a\"}", 13, "{\"type\": \"a\"}");
    ck_assert_uint_eq(jobs_in(reserve('t', 10)), 1);
    ck_assert_int_eq(size_of("jobs"), 1);
    check_sums();
}

/* ---- in delayed */

TEST(a_plain_delayed_member_is_adopted)
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

TEST(a_plain_member_before_its_time_stays)
{
    double due = now() + 100;

    ask("ZADD %s %s %s", key("delayed"), text("%.6f", due), LATER);
    ck_assert_int_eq(promote(), 0);
    ck_assert_str_eq(members("delayed"), LATER);
    ck_assert_int_eq(size_of("jobs"), 0);
    check_sums();
}

TEST(junk_in_delayed_comes_to_a_worker)
{
    ask("ZADD %s 1 hello 2 %b -inf no", key("delayed"), "", (size_t)0);
    ck_assert_int_eq(promote(), 3);
    check_sums();
    ck_assert_uint_eq(reserve('t', 10)->elements, 10);
    ck_assert_int_eq(stat_of("adopted"), 3);
    check_sums();
}

TEST(an_id_in_delayed_may_look_like_a_document)
{
    run("push", "0", "new", LATER, "+100", "0", "{}", NULL);
    make_due("delayed");
    promote();
    ck_assert_str_eq(members("ready"), LATER);
    ck_assert_int_eq(stat_of("adopted"), 0);
    check_sums();
}

TEST(big_delayed_members_are_bounded)
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
