/* test_settle.c: ack, expire, touch, bury; and what every settling verb refuses or answers with
 * LOST. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"smtp: no \\u00e4\",\"host\":\"h1\"}"

/* Nothing is kept of `id` any more. */
static void check_forgotten(const char *id)
{
    ck_assert_str_eq(field("jobs", id), "");
    ck_assert_str_eq(field("records", id), "");
}

/* ---- ack and expire */

TEST_EACH(acked_and_expired_are_gone, 2)
{
    static const char *const verbs[][2] = { { "ack", "done" }, { "expire", "expired" } };

    hold("abc");
    for (const char *id = "ab"; *id; id++)
        fill_record(text("%c", *id));
    ck_assert_str_eq(flat(run(verbs[_i][0], mine("a"), mine("c"), NULL)), "");
    ck_assert_str_eq(members("reserved"), mine("b"));
    check_forgotten("a");
    check_forgotten("c");
    ck_assert_str_eq(noted("a", "b"), "1");
    ck_assert_int_eq(stat_of(verbs[_i][1]), 2);
    ck_assert_int_eq(size_of("ready") + size_of("delayed") + size_of("dead"), 0);
    check_sums();
}

/* ---- a plain ZADD puts the id of a known job into ready */

/* a is reserved under t, then under u as well. */
static void hold_twice(void)
{
    hold("a");
    ask("ZADD %s 1 a", key("ready"));
    ck_assert_uint_eq(jobs_in(reserve('u', 10)), 1);
}

static const char *const enders[][4] = {
    { "ack" },
    { "expire" },
    { "release", "0", "ran", ERROR },
    { "return", "0", "held" },
    { "bury", "ran", ERROR },
};

TEST_EACH(who_ends_a_job_first_ends_it_for_both, COUNT(enders))
{
    hold_twice();
    run("ack", mine("a"), NULL);
    arg(member('u', "a"));
    for (size_t j = 1; j < 4 && enders[_i][j]; j++)
        arg(enders[_i][j]);
    ck_assert_str_eq(flat(run(enders[_i][0], NULL)), _i < 2 ? "" : "1");
    ck_assert_int_eq(size_of("reserved"), 0);
    ck_assert_int_eq(stat_of("done"), 1);
    check_forgotten("a");
    ck_assert_str_eq(text("%s%s%s", members("ready"), members("delayed"), members("dead")), "");
    check_sums();
}

TEST(what_has_ended_does_not_lapse)
{
    hold_twice();
    run("ack", mine("a"), NULL);
    make_due("reserved");
    ck_assert_str_eq(text("%lld", lapse(ERROR)), "0");
    ck_assert_int_eq(size_of("reserved") + size_of("ready"), 0);
    ck_assert_int_eq(stat_of("lapsed"), 0);
    check_forgotten("a");
    check_sums();
}

TEST(lost_positions_stay_in_order)
{
    hold("abc");
    ask("HDEL %s b", key("jobs"));
    ck_assert_str_eq(flat(run("return", mine("x"), "0", "held", mine("b"), "0", "held", mine("a"),
                              "0", "held", mine("y"), "0", "held", NULL)),
                     "1 2 4");
    ck_assert_str_eq(members("ready"), "a");
}

TEST_EACH(a_known_id_in_ready_is_in_no_other_set_when_reserved, 2)
{
    static const char *const from[] = { "delayed", "dead" };

    one_in_each_state();
    ask("ZREM %s ready", key("ready"));
    ask("HDEL %s ready", key("jobs"));
    ask("HINCRBY %s pushed -1", key("stats"));
    ask("ZADD %s 1 %s", key("ready"), from[_i]);
    ck_assert_str_eq(told(reserve('t', 10), 0, ID), from[_i]);
    ck_assert_int_eq(size_of(from[_i]), 0);
    ck_assert_int_eq(size_of("reserved"), 2);
    check_sums();
    run("ack", mine(from[_i]), NULL);
    check_sums();
}

static void hold_five_hundred(void)
{
    arg("0");
    arg("new");
    for (int i = 0; i < 500; i++) {
        argf("%d", i);
        arg("");
        arg("0");
        arg("{}");
    }
    run("push", NULL);
    reserve('t', 500);
}

TEST(five_hundred_are_acked_at_once)
{
    hold_five_hundred();
    for (int i = 0; i < 500; i++)
        arg(mine(text("%d", i)));
    ck_assert_str_eq(flat(run("ack", NULL)), "");
    ck_assert_int_eq(stat_of("done"), 500);
    ck_assert_int_eq(size_of("jobs") + size_of("reserved"), 0);
    check_sums();
}

/* ---- all that a token holds */

static const char *ack_all(const char *total)
{
    hold_by("tttttttttttttttt");
    return flat(run("ack_all", total, NULL));
}

TEST(all_of_a_token_are_acked)
{
    hold("abc");
    fill_record("b");
    note("u", "c", "60"); /* its id stays taken */
    push("d");
    reserve('u', 1);
    ck_assert_str_eq(ack_all("3"), "");
    ck_assert_str_eq(members("reserved"), member('u', "d"));
    check_forgotten("a");
    check_forgotten("b");
    ck_assert_str_eq(field("jobs", "c"), "");
    ck_assert_str_eq(members("unique"), "c");
    ck_assert_int_eq(stat_of("done"), 3);
    check_sums();
}

TEST(five_hundred_are_acked_by_their_number)
{
    hold_five_hundred();
    ck_assert_str_eq(ack_all("500"), "");
    ck_assert_int_eq(stat_of("done"), 500);
    ck_assert_int_eq(size_of("jobs") + size_of("reserved"), 0);
    check_sums();
}

/* ---- done and next in one call */

#define NEXT "ssssssssssssssss"

/* Two ids are done (the second may be NULL), and one job at most is handed out to NEXT. */
static redisReply *step(const char *id, const char *other)
{
    return run("step", NEXT, "30", "1", "262144", "", "", id, other, NULL);
}

/* What it says of the LOST. */
static const char *lost_in(const redisReply *reply)
{
    return reply->elements % 3 == 2 ? flat(reply->element[reply->elements - 1]) : "";
}

TEST(a_step_ends_one_also_if_others_come_first)
{
    const redisReply *reply;

    push("a");
    push("b");
    reserve('t', 1);
    ask("LPUSH %s 1", "later:{high}:wake");
    go_ahead("later:{high}:wake");
    reply = step(mine("a"), "lost");
    ck_assert_str_eq(strchr(reply->element[0]->str, ' '), " ahead 1");
    ck_assert_str_eq(lost_in(reply), "2");
    ck_assert_str_eq(members("ready"), "b");
    ck_assert_int_eq(stat_of("done"), 1);
    check_wake();
    check_sums();
}

TEST(a_step_ends_one_and_hands_out_the_next)
{
    const redisReply *reply;

    hold("a");
    push("b");
    push("c");
    note("c", "b", "2"); /* its record, which nothing else of this queue has */
    reply = step(mine("a"), NULL);
    ck_assert_uint_eq(reply->elements, 4);
    ck_assert_str_eq(told(reply, 0, ID), "b");
    ck_assert_str_eq(told(reply, 0, RECORD), "c=2\n");
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "{\"type\":\"t\"}");
    ck_assert_str_eq(members("reserved"), member('s', "b"));
    ck_assert_str_eq(members("ready"), "c");
    check_forgotten("a");
    ck_assert_int_eq(stat_of("done"), 1);
    ck_assert_int_eq(stat_of("reserved"), 2);
    ck_assert_int_eq(ask("EXISTS %s", held_by("tttttttttttttttt"))->integer, 0);
    check_wake();
    check_sums();
}

TEST(a_step_settles_as_an_ack_does)
{
    const redisReply *reply;

    hold("abc");
    note("u", "a", "60"); /* its id stays taken */
    fill_record("b");
    push("d");
    reply = step(mine("x"), mine("a"));
    ck_assert_str_eq(lost_in(reply), "1");
    ck_assert_uint_eq(reply->elements, 1 + 3 + 1);
    ck_assert_str_eq(members("unique"), "a");
    ck_assert_int_eq(stat_of("done"), 1);
    ask("ZREM %s %s", key("reserved"), NEXT);
    ask("DEL %s", held_by(NEXT));
    ask("ZADD %s 1 d", key("ready"));
    reply = step(mine("b"), mine("c"));
    ck_assert_str_eq(lost_in(reply), "");
    ck_assert_str_eq(told(reply, 0, ID), "d");
    check_forgotten("b");
    check_forgotten("c");
    ck_assert_int_eq(stat_of("done"), 3);
}

/* Nothing is ready, or the queue is paused: what is done is done all the same. */
TEST(a_step_that_finds_none_settles)
{
    const redisReply *reply;

    hold("a");
    reply = step(mine("a"), NULL);
    ck_assert_uint_eq(reply->elements, 1);
    ck_assert_int_eq(stat_of("done"), 1);
    check_wake();
    hold("b");
    push("c");
    run("pause", NULL);
    ck_assert_uint_eq(step(mine("b"), NULL)->elements, 1);
    ck_assert_int_eq(stat_of("done"), 2);
    ck_assert_str_eq(members("ready"), "c");
    check_wake();
    check_sums();
}

TEST(a_repeated_step_changes_nothing)
{
    uint64_t before;

    hold("a");
    push("b");
    push("c");
    step(mine("a"), NULL);
    before = digest();
    ck_assert_ptr_nonnull(strstr(
        run_error("step", NEXT, "30", "1", "262144", "", "", mine("a"), NULL), "not used before"));
    ck_assert_ptr_nonnull(
        strstr(run_error("step", "short", "30", "1", "9", "", "", mine("a"), NULL), "16"));
    ck_assert_ptr_nonnull(
        strstr(run_error("step", NEXT, "0", "1", "9", "", "", mine("a"), NULL), "lease"));
    ck_assert_ptr_nonnull(
        strstr(run_error("step", NEXT, "30", "0", "9", "", "", mine("a"), NULL), "limit"));
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(flat(run("ack", mine("a"), NULL)), "1");
}

/* ---- with what it leaves */

static redisReply *step_with(const char *keep, const char *id)
{
    return run("step", NEXT, "30", "1", "262144", keep, "[1]", id, NULL);
}

static const char *left_by(const char *id)
{
    return ask("LINDEX later:{q}:result:%s 0", id)->str;
}

/* Simple, with a record, and with one that asks for more. */
TEST(a_step_leaves_a_result)
{
    static const char *const asked[] = { "", "a", "u" };

    for (size_t i = 0; i < 3; i++) {
        const char *result;

        hold("a");
        push("b");
        if (*asked[i])
            note(asked[i], "a", "2");
        ck_assert_str_eq(told(step_with("60", mine("a")), 0, ID), "b");
        result = left_by("a");
        ck_assert_str_eq(strchr(result, '\n'), "\n[1]");
        ck_assert_mem_eq(result, text("{\"state\":\"done\",\"attempt\":%d,", i == 1 ? 3 : 1), 28);
        ck_assert_int_eq(ask("LLEN later:{q}:result:a")->integer, 1);
        ck_assert_int_gt(ask("TTL later:{q}:result:a")->integer, 50);
        ck_assert_int_eq(stat_of("done"), 2 * (int)i + 1);
        check_sums();
        run("ack", member('s', "b"), NULL);
    }
    hold("c");
    step_with("0", mine("c"));
    ck_assert_int_eq(ask("EXISTS later:{q}:result:c")->integer, 0);
}

TEST(a_step_leaves_nothing_of_a_lost_one)
{
    hold("a");
    run("ack", mine("a"), NULL);
    ck_assert_str_eq(lost_in(step_with("60", mine("a"))), "1");
    ck_assert_int_eq(ask("EXISTS later:{q}:result:a")->integer, 0);
}

TEST(a_step_that_cannot_leave_it_is_none)
{
    uint64_t before;

    hold("ab");
    push("c");
    ask("SET later:{q}:result:a 1");
    before = digest();
    ck_assert_mem_eq(run_error("step", NEXT, "30", "1", "9", "60", "[1]", mine("a"), NULL),
                     "WRONGTYPE", 9);
    ck_assert_mem_eq(run_error("step", NEXT, "30", "1", "9", "60", "[1]", mine("b"), "a", NULL),
                     "ERR step", 8);
    ck_assert_mem_eq(run_error("step", NEXT, "30", "1", "9", "315360001", "[1]", mine("b"), NULL),
                     "ERR step", 8);
    ck_assert_mem_eq(run_error("step", NEXT, "30", "1", "9", "1s", "[1]", mine("b"), NULL),
                     "ERR step", 8);
    ck_assert_uint_eq(digest(), before);
}

/* Somebody has put it into `ready` by hand, too. It is done, and is not handed out as it was. */
TEST(a_step_does_not_hand_out_what_it_ends)
{
    const redisReply *reply;

    hold("a");
    ask("ZADD %s 1 a", key("ready"));
    reply = step(mine("a"), NULL);
    ck_assert_int_eq(stat_of("done"), 1);
    ck_assert_uint_eq(reply->elements, 4);
    ck_assert_str_eq(told(reply, 0, DOCUMENT), "a"); /* a member without an entry in `jobs` */
    check_sums();
}

/* Another number: one was cancelled, the lease ran out, it is a repeat. */
TEST(another_number_changes_nothing)
{
    static const char *const others[] = { "1", "2", "4", "500" };
    static const char *const bad[] = { "0", "501", "-1", "1.5", "x", "" };
    uint64_t before;

    hold("abc");
    before = digest();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_str_eq(ack_all(others[i]), "IDS");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hold_by("tttttttttttttttt");
        ck_assert_ptr_nonnull(strstr(run_error("ack_all", bad[i], NULL), "1 to 500"));
    }
    ck_assert(digest() == before);
    ask("HDEL %s b", key("jobs"));
    ck_assert_str_eq(ack_all("3"), ""); /* somebody else has ended b */
    ck_assert_int_eq(stat_of("done"), 2);
    ck_assert_int_eq(stat_of("withdrawn"), 1);
    ck_assert_str_eq(ack_all("3"), "IDS");
}

/* ---- LOST */

/* The arguments of each settling verb, after the member. */
static const struct {
    const char *verb, *first, *rest[3];
    int rest_count;
    const char *counter;
} settlers[] = {
    { "ack", NULL, { NULL }, 0, "done" },
    { "expire", NULL, { NULL }, 0, "expired" },
    { "touch", "60", { NULL }, 0, NULL },
    { "release", NULL, { "0", "ran", ERROR }, 3, "released" },
    { "release", NULL, { "60", "crashed", ERROR }, 3, "released" },
    { "return", NULL, { "0", "held" }, 2, "returned" },
    { "return", NULL, { "60", "interrupted" }, 2, "returned" },
    { "bury", NULL, { "ran", ERROR }, 2, "buried" },
    { "bury", NULL, { "crashed", ERROR }, 2, "buried" },
};
#define SETTLERS COUNT(settlers)

static void settle_first(int row)
{
    if (settlers[row].first)
        arg(settlers[row].first);
}

static void settle_argument(int row, const char *member_name)
{
    arg(member_name);
    for (int i = 0; i < settlers[row].rest_count; i++)
        arg(settlers[row].rest[i]);
}

TEST_EACH(another_token_is_lost_and_changes_nothing, SETTLERS)
{
    uint64_t before;

    hold("ab");
    before = digest();
    settle_first(_i);
    settle_argument(_i, member('u', "a"));
    settle_argument(_i, "a");
    settle_argument(_i, "");
    settle_argument(_i, mine("never"));
    settle_argument(_i, "tttttttttttttttt:");
    ck_assert_str_eq(flat(run(settlers[_i].verb, NULL)), "1 2 3 4 5");
    ck_assert_uint_eq(digest(), before);
}

TEST_EACH(lost_ones_do_not_hinder_the_others, SETTLERS)
{
    hold("abc");
    settle_first(_i);
    settle_argument(_i, mine("y"));
    settle_argument(_i, mine("b"));
    settle_argument(_i, mine("x"));
    settle_argument(_i, mine("c"));
    ck_assert_str_eq(flat(run(settlers[_i].verb, NULL)), "1 3");
    if (settlers[_i].counter)
        ck_assert_int_eq(stat_of(settlers[_i].counter), 2);
    check_sums();
}

/* Letters are jobs that are held, a, b, c … in Redis's order. '!' is a job that is not. */
static const struct {
    const char *order, *lost;
    int settled;
} orders[] = {
    { "abcdefgh", "", 8 },  { "hgfedcba", "", 8 }, { "ab!cdb", "3", 4 }, { "!abc", "1", 3 },
    { "abcd!", "5", 4 },    { "bcaa", "", 3 },     { "abca", "", 3 },    { "aabc", "", 3 },
    { "fgh!!a", "4 5", 4 }, { "acegbdfh", "", 8 }, { "!!", "1 2", 0 },   { "gh!", "3", 2 },
};

TEST_EACH(any_order_will_do, SETTLERS)
{
    const char *counter = settlers[_i].counter;

    for (size_t n = 0; n < sizeof orders / sizeof *orders; n++) {
        ask("FLUSHALL");
        hold("abcdefgh");
        settle_first(_i);
        for (const char *c = orders[n].order; *c; c++)
            settle_argument(_i, *c == '!' ? mine("x") : mine(text("%c", *c)));
        ck_assert_str_eq(flat(run(settlers[_i].verb, NULL)), orders[n].lost);
        if (counter) {
            ck_assert_int_eq(stat_of(counter), orders[n].settled);
            ck_assert_int_eq(size_of("reserved"), 8 - orders[n].settled);
        }
        check_sums();
    }
}

TEST_EACH(a_repeat_is_lost_and_changes_nothing, SETTLERS)
{
    bool touch = strcmp(settlers[_i].verb, "touch") == 0; /* it may be repeated */
    uint64_t before;

    hold("a");
    settle_first(_i);
    settle_argument(_i, mine("a"));
    ck_assert_str_eq(flat(run(settlers[_i].verb, NULL)), "");
    before = digest();
    settle_first(_i);
    settle_argument(_i, mine("a"));
    ck_assert_str_eq(flat(run(settlers[_i].verb, NULL)), touch ? "" : "1");
    ck_assert(touch || digest() == before);
}

TEST_EACH(a_member_twice_in_one_call_counts_once, SETTLERS)
{
    const char *counter = settlers[_i].counter;

    hold("ab");
    settle_first(_i);
    settle_argument(_i, mine("a"));
    settle_argument(_i, mine("a"));
    settle_argument(_i, mine("b"));
    settle_argument(_i, mine("a"));
    ck_assert_str_eq(flat(run(settlers[_i].verb, NULL)), "");
    if (counter)
        ck_assert_int_eq(stat_of(counter), 2);
    ck_assert_int_le(atoi(noted("a", "a")), 1);
    ck_assert_int_le(atoi(noted("c", "a")), 1);
    ck_assert_int_le(atoi(noted("i", "a")), 1);
    check_sums();
}

/* ---- touch */

TEST(touch_extends_and_never_resurrects)
{
    double before;

    hold("abc");
    run("ack", mine("c"), NULL);
    ask("ZADD %s 1 tttttttttttttttt", key("reserved")); /* run out, not lapsed yet */
    before = now();
    ck_assert_str_eq(flat(run("touch", "90.5", mine("a"), mine("b"), mine("c"), NULL)), "3");
    for (const char *id = "ab"; *id; id++) {
        ck_assert_double_ge(score("reserved", mine(text("%c", *id))), before + 90.5 - 0.000001);
        ck_assert_double_le(score("reserved", mine(text("%c", *id))), now() + 90.5);
    }
    ck_assert_int_eq(size_of("reserved"), 2);
    ck_assert_str_eq(flat(run("touch", "90", mine("c"), NULL)), "1");
    ck_assert_int_eq(size_of("reserved"), 2);
    check_sums();
}

/* ---- bury */

TEST(buried_is_dead_with_its_reason)
{
    double before = now();

    hold("abc");
    note("a", "b", "4");
    note("i", "a", "4");
    ck_assert_str_eq(flat(run("bury", mine("a"), "ran", ERROR, mine("b"), "unrun", ERROR, mine("c"),
                              "crashed", "", NULL)),
                     "");
    ck_assert_str_eq(members("dead"), "a b c");
    ck_assert_double_ge(score("dead", "a"), before);
    ck_assert_double_le(score("dead", "c"), now() + 0.000003);
    ck_assert_int_eq(size_of("ready") + size_of("delayed") + size_of("reserved"), 0);
    ck_assert_str_eq(noted("a", "a"), "1");
    ck_assert_str_eq(noted("a", "b"), "4");
    ck_assert_str_eq(noted("a", "c"), "1");
    ck_assert_str_eq(noted("i", "a"), "");
    ck_assert_str_eq(noted("c", "a"), "");
    ck_assert_str_eq(noted("c", "c"), "1");
    ck_assert_str_eq(noted("e", "c"), "");
    check_error("a", 1, before, ERROR);
    check_error("b", 4, before, ERROR);
    ck_assert_str_eq(field("jobs", "a"), "{\"type\":\"t\"}");
    ck_assert_int_eq(stat_of("buried"), 3);
    check_sums();
}

/* ---- refused */

/* A verb and its wrong arguments; M is a member that is held. */
static const char *const refused[][6] = {
    { "touch", "inf", "M" },
    { "touch", "nan", "M" },
    { "touch", "0x10", "M" },
    { "touch", "-1", "M" },
    { "touch", "0", "M" },
    { "touch", "", "M" },
    { "release", "M", "inf", "ran", "" },
    { "release", "M", "nan", "ran", "" },
    { "release", "M", "0x10", "ran", "" },
    { "release", "M", "-1", "ran", "" },
    { "release", "M", "", "ran", "" },
    { "release", "M", "1e3", "ran", "" },
    { "release", "M", "100000000001", "ran", "" },
    { "release", "M", "0", "", "" },
    { "release", "M", "0", "unrun", "" },
    { "release", "M", "0", "ran" },
    { "return", "M", "inf", "held" },
    { "return", "M", "nan", "held" },
    { "return", "M", "-1", "held" },
    { "return", "M", "0x10", "held" },
    { "return", "M", "", "held" },
    { "return", "M", "0", "" },
    { "return", "M", "0", "ran" },
    { "return", "M", "0" },
    { "bury", "M", "", "" },
    { "bury", "M", "held", "" },
    { "bury", "M", "ran" },
};

/* This would be right alone, but must not happen beside the wrong one. */
static void add_good_one(const char *verb)
{
    for (int row = 0; row < SETTLERS; row++) {
        if (strcmp(settlers[row].verb, verb) == 0 && !settlers[row].first) {
            settle_argument(row, mine("b"));
            return;
        }
    }
}

TEST(what_is_refused_changes_nothing)
{
    uint64_t before;

    hold("ab");
    before = digest();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *const *row = refused[i];
        const char *why;

        add_good_one(row[0]);
        for (int n = 1; n < 6 && row[n]; n++)
            arg(strcmp(row[n], "M") == 0 ? mine("a") : row[n]);
        why = run_error(row[0], NULL);
        ck_assert_msg(strstr(why, row[0]) != NULL, "row %zu: refused for another reason: %s", i,
                      why);
        ck_assert_msg(digest() == before, "row %zu changed something", i);
    }
    run_error("ack", NULL, NULL);
    run_error("touch", "30", NULL);
    ck_assert_uint_eq(digest(), before);
}

TEST_EACH(five_hundred_and_one_are_refused, SETTLERS)
{
    uint64_t before;

    hold("a");
    before = digest();
    settle_first(_i);
    for (int i = 0; i < 501; i++)
        settle_argument(_i, mine("a"));
    run_error(settlers[_i].verb, NULL);
    ck_assert_uint_eq(digest(), before);
    harness_free();
}
