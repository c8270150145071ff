/* test_push_now.c: push_now: does what push does, or nothing. */
#include "harness.h"

#include <string.h>

#define DOCUMENT "{\"type\":\"t\"}"
#define CALL     "later:{q}:call:n" /* the key in harness.c */

static const char *push_now_as(const char *number, const char *epoch, const char *id)
{
    return flat(run("push_now", epoch, id, DOCUMENT, number, NULL));
}

static const char *push_now(const char *epoch, const char *id)
{
    static unsigned calls;

    return push_now_as(text("%u", ++calls), epoch, id);
}

TEST(a_job_becomes_ready)
{
    static const char document[] = "{\"type\":\"t\",\"n\":12345678901234567890,\"\0\"}";
    double before = now();
    const redisReply *kept;

    arg("0");
    arg("a");
    arg_bytes(document, sizeof document - 1);
    arg("123456789012345678");
    ck_assert_str_eq(flat(run("push_now", NULL)), "PUSHED");
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_double_ge(score("ready", "a"), before);
    ck_assert_double_le(score("ready", "a"), now() + 0.000001);
    kept = ask("HGET %s a", key("jobs"));
    ck_assert_uint_eq(kept->len, sizeof document - 1);
    ck_assert_mem_eq(kept->str, document, kept->len);
    ck_assert_int_eq(stat_of("pushed"), 1);
    ck_assert_int_eq(ask("DBSIZE")->integer, 5); /* ready, jobs, wake, stats, call */
    ck_assert_int_gt(ask("TTL " CALL)->integer, 60);
    ck_assert_int_le(ask("TTL " CALL)->integer, 120);
    ck_assert_str_eq(ask("OBJECT ENCODING " CALL)->str, "intset");
    check_sums();
    check_wake();
}

TEST(its_turn_is_that_of_push)
{
    push("1");
    push_now("0", "2");
    push("3");
    push_now("0", "4");
    ck_assert_str_eq(members("ready"), "1 2 3 4");
    check_wake();
}

/* What it does not know to be new and unhindered it leaves to push. */
TEST(it_asks_and_has_done_nothing)
{
    static const char *const known[] = { "ready", "delayed", "held", "dead", "taken" };
    uint64_t before;

    push("dead");
    reserve('d', 1);
    run("bury", member('d', "dead"), "ran", "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}",
        NULL);
    push("held");
    reserve('t', 1);
    push("ready");
    push_when("delayed", "+100");
    ask("HSET %s taken t=%s", key("records"), text("%.6f", now() + 100));
    ask("DEL %s", key("wake"));
    before = digest();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ck_assert_str_eq(push_now("0", known[i]), "ASK");
    ck_assert_str_eq(push_now("7", "new"), "ASK");
    ck_assert_uint_eq(digest(), before);
    ask("SET %s 7", key("shards"));
    before = digest();
    ck_assert_str_eq(push_now("0", "new"), "ASK");
    ck_assert_str_eq(push_now("6", "new"), "ASK");
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(push_now("7", "new"), "PUSHED");
}

TEST(a_call_repeated_answers_the_same)
{
    ck_assert_str_eq(push_now_as("7", "0", "a"), "PUSHED");
    ck_assert_str_eq(push_now_as("7", "0", "a"), "PUSHED");
    ck_assert_int_eq(stat_of("pushed"), 1);
    ck_assert_str_eq(push_now_as("8", "0", "a"), "ASK");
    ck_assert_int_eq(ask("SISMEMBER " CALL " 8")->integer, 0);
    reserve('t', 1);
    run("ack", mine("a"), NULL);
    ck_assert_str_eq(push_now_as("7", "0", "a"), "PUSHED");
    ck_assert_int_eq(size_of("jobs"), 0);
    ck_assert_int_eq(stat_of("pushed"), 1);
    /* But it is of one call, and the id is free. */
    ck_assert_str_eq(push_now_as("8", "0", "a"), "PUSHED");
    ck_assert_int_eq(size_of("jobs"), 1);
    check_sums();
}

/* Whatever has come meanwhile: another plan, a limit, a record. */
TEST(a_call_repeated_is_hindered_by_nothing)
{
    uint64_t before;

    ck_assert_str_eq(push_now_as("7", "0", "a"), "PUSHED");
    reserve('t', 1);
    run("ack", mine("a"), NULL);
    push("b");
    ask("SET %s 9", key("shards"));
    ask("HSET %s max_jobs 1", key("stats"));
    ask("HSET %s a t=%s", key("records"), text("%.6f", now() + 100));
    before = digest();
    ck_assert_str_eq(push_now_as("7", "0", "a"), "PUSHED");
    ck_assert_str_eq(push_now_as("8", "0", "a"), "ASK");
    ck_assert_uint_eq(digest(), before);
}

/* A set of calls lives as long as its first call said, however many come: it does not grow old. */
TEST(a_set_of_calls_ends)
{
    push_now("0", "a");
    ask("EXPIRE " CALL " 5");
    push_now("0", "b");
    push_now("0", "b");
    ck_assert_int_le(ask("TTL " CALL)->integer, 5);
    ck_assert_int_eq(ask("SCARD " CALL)->integer, 3); /* two numbers, and -1 */
    ask("DEL " CALL);
    push_now("0", "b");
    ck_assert_int_eq(ask("EXISTS " CALL)->integer, 0);
    push_now("0", "c");
    ck_assert_int_gt(ask("TTL " CALL)->integer, 60);
}

/* Each thing that it looks at, with each of the others, is there or not. */
TEST(all_that_may_be_there_is_told_apart)
{
    for (unsigned there = 0; there < 32; there++) {
        bool wakes = there & 1, called = there & 2, paused = there & 4;

        ask("FLUSHDB");
        if (wakes)
            ask("RPUSH %s 1", key("wake"));
        if (called)
            ask("SADD " CALL " -1 5");
        if (paused)
            ask("SET %s 1", key("paused"));
        if (there & 8)
            ask("SET %s 3", key("shards"));
        if (there & 16)
            ask("HSET %s other a=1", key("records"));
        ck_assert_str_eq(push_now_as("6", there & 8 ? "3" : "0", "a"), "PUSHED");
        ck_assert_str_eq(members("ready"), "a");
        ck_assert_int_eq(size_of("wake"), wakes || !paused);
        ck_assert_int_eq(ask("TTL " CALL)->integer > 60, !called);
        ck_assert_int_eq(ask("SCARD " CALL)->integer, called ? 3 : 2);
    }
}

TEST(a_paused_queue_takes_it_without_wake)
{
    run("pause", NULL);
    ck_assert_str_eq(push_now("0", "a"), "PUSHED");
    ck_assert_int_eq(size_of("wake"), 0);
    check_wake();
}

TEST(what_is_refused_changes_nothing)
{
    static const char *const ids[] = { "", "a b", "caf\xC3\xA9", "a\n" };
    static const char *const numbers[] = { "", "1234567890123456789" };
    uint64_t before = digest();

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        run_error("push_now", "0", ids[i], DOCUMENT, "1", NULL);
    run_error("push_now", "0", text("%0201d", 0), DOCUMENT, "1", NULL);
    run_error("push_now", "0", "a", "", "1", NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        run_error("push_now", "0", "a", DOCUMENT, numbers[i], NULL);
    ask("SET " CALL " PUSHED"); /* as push keeps its answers */
    ck_assert_mem_eq(run_error("push_now", "0", "a", DOCUMENT, "1", NULL), "WRONGTYPE", 9);
    ask("DEL " CALL);
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(push_now("0", text("%0200d", 0)), "PUSHED");
}

TEST(a_full_queue_is_asked_about)
{
    uint64_t before;

    ask("HSET %s max_jobs 2", key("stats"));
    ck_assert_str_eq(push_now("0", "a"), "PUSHED");
    ck_assert_str_eq(push_now("0", "b"), "PUSHED");
    before = digest();
    ck_assert_str_eq(push_now("0", "c"), "ASK");
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(flat(run("push", "0", "new", "c", "", "0", DOCUMENT, NULL)), "FULL");
    check_sums();
}
