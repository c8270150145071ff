/* test_told.c: scripts that end jobs, when they tell of it in `events`: of those that have ended,
 * and of no others. */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

/* The entries: the number of the last end, the host and the lines of each, with `;` after it. Their
 * times are since the second before `began`. */
static const char *entries(void)
{
    const redisReply *found = ask("XRANGE later:{q}:events - +");
    const char *all = "";

    for (size_t i = 0; i < found->elements; i++) {
        const redisReply *const *entry = (const redisReply *const *)found->element[i]->element;
        const redisReply *fields = entry[1];
        const char *dash = strchr(entry[0]->str, '-');

        ck_assert_ptr_nonnull(dash);
        ck_assert(strtod(dash + 1, NULL) / 1e6 <= now() + 1);
        ck_assert(strtod(dash + 1, NULL) / 1e6 > now() - 600);
        ck_assert_uint_eq(fields->elements, 4);
        ck_assert_str_eq(fields->element[0]->str, "host");
        ck_assert_str_eq(fields->element[2]->str, "ends");
        all = text("%s%.*s %s %s;", all, (int)(dash - entry[0]->str), entry[0]->str,
                   fields->element[1]->str, fields->element[3]->str);
    }
    return all;
}

TEST(nothing_is_told_unless_it_is_asked_for)
{
    hold("a");
    run("ack", mine("a"), NULL);
    ck_assert_str_eq(entries(), "");
}

TEST(each_script_tells)
{
    hold("abcdefghi");
    tell(100, "1", NULL);
    ck_assert_str_eq(flat(run("ack", mine("a"), NULL)), "");
    tell(100, "2", NULL);
    ck_assert_str_eq(flat(run("expire", mine("b"), NULL)), "");
    tell(100, "3", "4", NULL);
    ck_assert_str_eq(
        flat(run("release", mine("c"), "0", "ran", ERROR, mine("d"), "9", "ran", ERROR, NULL)), "");
    tell(100, "5", NULL);
    ck_assert_str_eq(flat(run("bury", mine("e"), "ran", ERROR, NULL)), "");
    tell(100, "6", NULL);
    ck_assert_str_eq(flat(run("finish", mine("f"), "done", "[1]", "60", NULL)), "");
    tell(100, "7", "8", NULL);
    ck_assert_str_eq(
        flat(run("finish_all", "0", "0", mine("g"), "1", "0", "", mine("h"), "2", "0", "", NULL)),
        "");
    tell(100, "9", NULL);
    hold_by("tttttttttttttttt");
    arg("1");
    ck_assert_str_eq(flat(run("ack_all", NULL)), "");
    ck_assert_str_eq(entries(), "1 h 1;2 h 2;4 h 3\n4;5 h 5;6 h 6;8 h 7\n8;9 h 9;");
    ck_assert_int_eq(size_of("reserved"), 0);
    ck_assert_int_eq(stat_of("done"), 5);
    check_sums();
}

TEST(step_tells_and_hands_out)
{
    const redisReply *reply;

    hold("ab");
    push("n");
    tell(100, "1", "2", "3", NULL);
    reply = run("step", "ssssssssssssssss", "30", "1", "262144", "", "", mine("a"), mine("none"),
                mine("b"), NULL);
    ck_assert_uint_eq(reply->elements, 1 + 3 + 1);
    ck_assert_str_eq(reply->element[1]->str, "n");
    ck_assert_str_eq(flat(reply->element[4]), "2");
    ck_assert_str_eq(entries(), "2 h 1\n3;");
    tell(100, "4", NULL);
    reply = run("step", "zzzzzzzzzzzzzzzz", "30", "1", "262144", "", "", member('s', "n"), NULL);
    ck_assert_uint_eq(jobs_in(reply), 0);
    ck_assert_str_eq(entries(), "2 h 1\n3;3 h 4;");
    check_sums();
}

/* What the single job gives, for the next of its flow, looks like a list of the LOST. */
TEST(step_of_a_chain_tells)
{
    run("flow_push", "f", "", "1", "60", "x", "1", "", "done", "", "0", "{}", "y", "2", "1", "done",
        "", "0", "{}", NULL);
    reserve('t', 1);
    tell(100, "1", NULL);
    ck_assert_uint_eq(
        run("step", "ssssssssssssssss", "30", "1", "262144", "0", "[1]", mine("x"), NULL)->elements,
        1 + 3 + 1);
    ck_assert_str_eq(entries(), "1 h 1;");
}

TEST(what_is_lost_is_not_told)
{
    hold("abc");
    tell(100, "1", "2", "3", "4", NULL);
    ck_assert_str_eq(flat(run("ack", mine("none"), mine("a"), mine("no"), mine("b"), NULL)), "1 3");
    ck_assert_str_eq(entries(), "2 h 2\n4;");
    tell(100, "5", NULL);
    ck_assert_str_eq(flat(run("release", mine("a"), "0", "ran", ERROR, NULL)), "1");
    tell(100, "6", NULL);
    ck_assert_str_eq(flat(run("finish", mine("b"), "done", "1", "60", NULL)), "1");
    tell(100, "7", "8", NULL);
    hold_by("tttttttttttttttt");
    arg("2");
    ck_assert_str_eq(flat(run("ack_all", NULL)), "IDS");
    ck_assert_str_eq(entries(), "2 h 2\n4;");
}

TEST(what_is_refused_is_not_told)
{
    uint64_t before;

    hold("a");
    before = digest();
    tell(100, "1", NULL);
    ck_assert_mem_eq(run_error("bury", mine("a"), "somehow", ERROR, NULL), "ERR bury", 8);
    tell(100, "1", NULL);
    ck_assert_mem_eq(run_error("release", mine("a"), "0", NULL), "ERR usage: release", 18);
    ck_assert_uint_eq(digest(), before);
}

/* Entries are dropped by the numbers of their ends, however many one has. Redis drops them in parts
 * of 100. */
TEST(as_many_as_asked_for_are_kept)
{
    long long left;

    for (int i = 0; i < 1000; i++) {
        push("a");
        reserve('t', 1);
        tell(50, text("%d", i), NULL);
        run("ack", mine("a"), NULL);
        harness_free();
    }
    left = ask("XLEN later:{q}:events")->integer;
    ck_assert_int_ge(left, 50);
    ck_assert_int_le(left, 150);
    ck_assert_ptr_nonnull(strstr(entries(), "1000 h 999;"));
    ck_assert_ptr_nonnull(strstr(entries(), "951 h 950;"));
}

/* The clock may go back: entries are in the order of their numbers. */
TEST(numbers_go_on)
{
    ask("XADD later:{q}:events 7-9999999999999999 host x ends before");
    hold("ab");
    tell(100, "1", "2", NULL);
    run("ack", mine("a"), mine("b"), NULL);
    ck_assert_str_eq(
        text(
            "%s",
            ask("XREVRANGE later:{q}:events + - COUNT 1")->element[0]->element[1]->element[3]->str),
        "1\n2");
    ck_assert_mem_eq(ask("XREVRANGE later:{q}:events + - COUNT 1")->element[0]->element[0]->str,
                     "9-", 2);
}

/* The jobs have ended all the same. */
TEST(a_stream_that_is_none_hinders_nothing)
{
    ask("SET later:{q}:events x");
    hold("a");
    tell(100, "1", NULL);
    ck_assert_str_eq(flat(run("ack", mine("a"), NULL)), "");
    ck_assert_int_eq(stat_of("done"), 1);
    check_sums();
}

TEST(forgotten_with_its_queue)
{
    hold("a");
    tell(100, "1", NULL);
    run("ack", mine("a"), NULL);
    ck_assert_int_eq(run("forget", NULL)->integer, 0);
    ck_assert_int_eq(ask("EXISTS later:{q}:events")->integer, 0);
}
