/* test_migrate.c: migrate: due delayed jobs and lapsed reservations. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAPSE "\"kind\":\"lapse\",\"text\":\"\",\"host\":\"h\"}"
#define LATER "{\"type\":\"later\"}"

enum answer { PROMOTED, NEXT_DUE, NEXT_LAPSE, NOW, NEXT_TICK, LEFT, RUN_OUT, LAPSED };

static long long lapsed;

/* As a migrator does: what has run out may also lapse. */
static const redisReply *migrate(int limit, bool may_lapse)
{
    const redisReply *reply = run("migrate", text("%d", limit), NULL);

    lapsed = 0;
    for (size_t i = RUN_OUT; may_lapse && i < reply->elements; i++) {
        hold_by(reply->element[i]->str);
        lapsed += run("lapse", "0", LAPSE, NULL)->integer;
    }
    return reply;
}

static long long number(const redisReply *reply, enum answer which)
{
    return which == LAPSED ? lapsed : reply->element[which]->integer;
}

static double seconds(const redisReply *reply, enum answer which)
{
    ck_assert_str_ne(reply->element[which]->str, "");
    return strtod(reply->element[which]->str, NULL);
}

/* ---- delayed */

TEST(never_early)
{
    const redisReply *reply;
    double due;

    push_when("a", "+0.05");
    due = score("delayed", "a");
    do {
        reply = migrate(500, true);
        if (number(reply, PROMOTED) == 0) {
            ck_assert_double_lt(seconds(reply, NOW), due);
            ck_assert_double_eq_tol(seconds(reply, NEXT_DUE), due - seconds(reply, NOW), 2e-6);
            ck_assert_str_eq(members("delayed"), "a");
            check_wake();
        }
    } while (number(reply, PROMOTED) == 0);
    ck_assert_double_ge(seconds(reply, NOW), due - 1e-6);
    ck_assert_double_le(seconds(reply, NOW), now());
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_int_eq(size_of("delayed"), 0);
    check_sums();
    check_wake();
}

TEST(the_score_is_the_due_time_less_the_priority)
{
    const char *due[4];

    for (int i = 0; i < 4; i++) {
        const char *id = text("%d", i);

        run("push", "0", "new", id, "+100", text("%d", i % 2 ? i : 0), "{}", NULL);
    }
    make_due("delayed");
    for (int i = 0; i < 4; i++)
        due[i] = score_text("delayed", text("%d", i));
    ck_assert_int_eq(number(migrate(500, false), PROMOTED), 4);
    ck_assert_str_eq(score_text("ready", "0"), due[0]);
    ck_assert_str_eq(score_text("ready", "2"), due[2]);
    ck_assert_double_eq(score("ready", "1"), strtod(due[1], NULL) - 1e6);
    ck_assert_double_eq(score("ready", "3"), strtod(due[3], NULL) - 3e6);
    ck_assert_str_eq(members("ready"), "3 1 0 2");
    check_sums();
}

/* Fills `delayed` with count jobs, due since long ago. */
static void fill_delayed(int count)
{
    for (int i = 0; i < count; i += 500) {
        arg("0");
        arg("new");
        for (int n = i; n < i + 500 && n < count; n++) {
            argf("%06d", n);
            arg("+1000");
            arg("0");
            arg("{}");
        }
        run("push", NULL);
        harness_free();
    }
    ask("EVAL %s 2 %s %s",
        "local ids = redis.call('ZRANGE', KEYS[1], 0, -1) "
        "redis.call('DEL', KEYS[1]) "
        "for i, id in ipairs(ids) do redis.call('ZADD', KEYS[1], 1000000000 + i % 7, id) end",
        key("delayed"), key("ready"));
}

TEST(a_call_moves_at_most_its_limit)
{
    const redisReply *reply;

    fill_delayed(1203);
    ck_assert_int_eq(number(migrate(1, false), PROMOTED), 1);
    ck_assert_int_eq(number(migrate(70, false), PROMOTED), 70);
    ck_assert_int_eq(number(migrate(430, false), PROMOTED), 430);
    reply = migrate(500, false);
    ck_assert_int_eq(number(reply, PROMOTED), 500);
    ck_assert_double_eq(seconds(reply, NEXT_DUE), 0);
    ck_assert_int_eq(size_of("ready"), 1001);
    check_sums();
    reply = migrate(500, false);
    ck_assert_int_eq(number(reply, PROMOTED), 202);
    ck_assert_str_eq(reply->element[NEXT_DUE]->str, "");
    ck_assert_int_eq(size_of("delayed"), 0);
    ck_assert_int_eq(number(migrate(500, false), PROMOTED), 0);
    check_sums();
    check_wake();
}

/* Microseconds of processor that Redis has used: others may have the processor meanwhile. */
static double used(void)
{
    const char *info = ask("INFO cpu")->str, *sys = strstr(info, "used_cpu_sys:"),
               *user = strstr(info, "used_cpu_user:");

    ck_assert(sys && user);
    return (strtod(strchr(sys, ':') + 1, NULL) + strtod(strchr(user, ':') + 1, NULL)) * 1e6;
}

enum { SHORT_CALLS = 200 };

/* Migrates 100,000 jobs, and notes the time of each call if it is less than the noted one. */
static void migrate_all(double least[SHORT_CALLS])
{
    fill_delayed(100000);
    for (int calls = 0; calls < SHORT_CALLS; calls++) {
        double before = used(), took;

        ck_assert_int_eq(number(migrate(500, true), PROMOTED), 500);
        took = used() - before;
        least[calls] = fmin(least[calls], took);
        harness_free();
    }
    ck_assert_int_eq(size_of("ready"), 100000);
    ck_assert_int_eq(size_of("delayed"), 0);
}

/* Twice: a call that is slow by itself is slow both times; one with a cold cache is not. */
TEST(a_hundred_thousand_due_at_once_in_short_calls)
{
    double least[SHORT_CALLS], most = 0;

    for (int i = 0; i < SHORT_CALLS; i++)
        least[i] = INFINITY;
    migrate_all(least);
    ask("FLUSHALL");
    migrate_all(least);
    for (int i = 0; i < SHORT_CALLS; i++)
        most = fmax(most, least[i]);
    ck_assert_double_gt(most, 0);
    ck_assert_double_le(most, 10000);
}

/* ---- reserved */

TEST(a_lapse_is_an_attempt)
{
    double before = now();

    push("a");
    push_priority("b", 4);
    reserve('t', 2);
    note("a", "a", "2");
    note("i", "a", "9");
    note("c", "a", "0");
    make_due("reserved");
    check_sums();
    ck_assert_int_eq(number(migrate(500, true), LAPSED), 2);
    ck_assert_str_eq(members("ready"), "b a");
    ck_assert_int_eq(size_of("reserved"), 0);
    ck_assert_double_ge(score("ready", "a"), before);
    ck_assert_double_le(score("ready", "a"), now() + 0.000002);
    ck_assert_double_ge(score("ready", "b"), before - 4e6);
    ck_assert_str_eq(noted("a", "a"), "3");
    ck_assert_str_eq(noted("a", "b"), "1");
    ck_assert_str_eq(noted("i", "a"), "");
    ck_assert_str_eq(noted("c", "a"), "0");
    check_error("a", 3, before, LAPSE);
    ck_assert_int_eq(stat_of("lapsed"), 2);
    check_sums();
    check_wake();
}

TEST(what_lapsed_is_lost_to_its_holder)
{
    uint64_t before;

    push("a");
    reserve('t', 1);
    make_due("reserved");
    migrate(500, true);
    before = digest();
    ck_assert_str_eq(flat(run("ack", mine("a"), NULL)), "1");
    ck_assert_str_eq(flat(run("touch", "30", mine("a"), NULL)), "1");
    ck_assert_uint_eq(digest(), before);
    ck_assert_str_eq(reserve('u', 1)->element[2]->str, text("a=1\ne=%s\n", noted("e", "a")));
    ck_assert_str_eq(flat(run("ack", mine("a"), NULL)), "1");
    ck_assert_str_eq(flat(run("ack", member('u', "a"), NULL)), "");
    check_sums();
}

TEST(nothing_lapses_unless_asked)
{
    const redisReply *reply;
    uint64_t before;

    push("a");
    reserve('t', 1);
    make_due("reserved");
    before = digest();
    reply = migrate(500, false);
    ck_assert_int_eq(number(reply, LAPSED), 0);
    ck_assert_double_eq(seconds(reply, NEXT_LAPSE), 0);
    ck_assert_uint_eq(digest(), before);
}

/* A call that was sent long ago. */
TEST(nothing_lapses_after_the_time_that_is_given)
{
    push("a");
    reserve('t', 1);
    make_due("reserved");
    hold_by("tttttttttttttttt");
    ck_assert_int_eq(run("lapse", text("%.6f", now() - 0.001), LAPSE, NULL)->integer, 0);
    hold_by("tttttttttttttttt");
    ck_assert_int_eq(run("lapse", "2", LAPSE, NULL)->integer, 0);
    ck_assert_int_eq(size_of("reserved"), 1);
    hold_by("tttttttttttttttt");
    ck_assert_int_eq(run("lapse", text("%.6f", now() + 10), LAPSE, NULL)->integer, 1);
    check_sums();
    check_wake();
}

TEST(no_lease_lapses_before_its_end)
{
    const redisReply *reply;
    double end;

    push("a");
    run("reserve", "tttttttttttttttt", "0.05", "1", "1000", "0", NULL);
    end = score("reserved", mine("a"));
    do {
        reply = migrate(500, true);
        if (number(reply, LAPSED) == 0) {
            ck_assert_double_lt(seconds(reply, NOW), end);
            ck_assert_double_eq_tol(seconds(reply, NEXT_LAPSE), end - seconds(reply, NOW), 2e-6);
        }
    } while (number(reply, LAPSED) == 0);
    ck_assert_double_ge(seconds(reply, NOW), end - 1e-6);
    ck_assert_int_eq(size_of("reserved"), 0);
    check_sums();
    check_wake();
}

TEST(a_hundred_run_out_tokens_are_told)
{
    const redisReply *reply;

    for (int i = 0; i < 101; i++) {
        push(text("%d", i));
        run("reserve", text("%016d", i), "30", "1", "1000", "0", NULL);
        ask("ZADD %s %d %s", key("reserved"), i, text("%016d", i));
    }
    reply = migrate(500, false);
    ck_assert_uint_eq(reply->elements, RUN_OUT + 100);
    ck_assert_str_eq(reply->element[RUN_OUT]->str, "0000000000000000");
    migrate(500, true);
    ck_assert_int_eq(lapsed, 100);
    migrate(500, true);
    ck_assert_int_eq(lapsed, 1);
    check_sums();
}

TEST(what_was_touched_meanwhile_does_not_lapse)
{
    push("a");
    reserve('t', 1);
    hold_by("tttttttttttttttt");
    ck_assert_int_eq(run("lapse", "0", LAPSE, NULL)->integer, 0);
    make_due("reserved");
    run("touch", "30", mine("a"), NULL);
    hold_by("tttttttttttttttt");
    ck_assert_int_eq(run("lapse", "0", LAPSE, NULL)->integer, 0);
    ck_assert_str_eq(members("reserved"), mine("a"));
    check_sums();
}

TEST(a_lapse_without_reason_keeps_the_last_error)
{
    push("a");
    reserve('t', 1);
    run("release", mine("a"), "0", "ran", "\"kind\":\"retry\"}", NULL);
    reserve('t', 1);
    make_due("reserved");
    lapse("");
    ck_assert_ptr_nonnull(strstr(noted("e", "a"), "\"attempt\":1,\"kind\":\"retry\"}"));
    ck_assert_str_eq(noted("a", "a"), "2");
}

/* ---- wake and answers */

TEST(a_plain_ready_member_gets_its_wake)
{
    const redisReply *reply;

    ask("ZADD %s 0 %s", key("ready"), LATER);
    reply = migrate(500, true);
    ck_assert_str_eq(flat(reply), text("0   %s  1", reply->element[NOW]->str));
    check_wake();
    ck_assert_str_eq(members("ready"), LATER);
    migrate(500, true);
    check_wake();
    run("pause", NULL);
    ask("DEL %s", key("wake"));
    migrate(500, true);
    check_wake();
}

TEST(a_wake_without_work_goes)
{
    ask("RPUSH %s 1 1", key("wake"));
    migrate(500, true);
    check_wake();
    ck_assert_int_eq(ask("DBSIZE")->integer, 0);
}

TEST(answers_tell_the_next)
{
    const redisReply *reply;
    double time;

    push("a");
    run("reserve", "tttttttttttttttt", "77", "1", "1000", "0", NULL);
    push_when("b", "+55");
    push_when("c", "+99");
    reply = migrate(500, true);
    time = seconds(reply, NOW);
    ck_assert_double_eq_tol(seconds(reply, NEXT_DUE), score("delayed", "b") - time, 2e-6);
    ck_assert_double_eq_tol(seconds(reply, NEXT_LAPSE), score("reserved", mine("a")) - time, 2e-6);
}

/* ---- refused */

TEST(what_is_refused_changes_nothing)
{
    static const char *const refused[] = { "0", "-1", "501", "1.5", "nan", "inf", "", "0x10" };
    uint64_t before;

    push_when("a", "+100");
    make_due("delayed");
    before = digest();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_mem_eq(run_error("migrate", refused[i], NULL), "ERR migrate: ", 13);
        ck_assert_msg(digest() == before, "row %zu changed something", i);
    }
}
