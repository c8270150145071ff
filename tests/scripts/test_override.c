/* test_override.c: override, heed, and return of jobs whose type is paused. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define FIELD "type:mail.*"

static void pause_for(const char *ms)
{
    ck_assert_str_eq(flat(run("override", FIELD, ms, "ann", "it is slow", NULL)), "1");
}

/* All ready jobs are reserved under t and given back, as those of a type that is paused. */
static void keep_all(void)
{
    const redisReply *jobs = reserve('t', 500);

    for (size_t i = 0; i < jobs_in(jobs); i++) {
        arg(mine(told(jobs, i, ID)));
        arg("0");
        arg(FIELD);
    }
    ck_assert_str_eq(flat(run("return", NULL)), "");
}

static const char *aside(void)
{
    return flat(ask("ZRANGE later:{q}:aside:mail.* 0 -1"));
}

TEST(wrong_words_change_nothing)
{
    static const char *const bad[][4] = {
        { "type:", "0", "", "" },         { "type:a b", "0", "", "" },
        { "max", "0", "", "" },           { "type:a*b", "0", "", "" },
        { "type:a", "-1", "", "" },       { "type:a", "1e3", "", "" },
        { "type:a", "0", "a b", "" },     { "type:a", "0", "", "a\n" },
        { "type:a", "0", "\n", "" },      { "type:a", "1.5", "", "" },
        { "limit:a", "0", "", "" },       { "limit:a", "0", "", "3" },
        { "limit:a", "0", "", "0 1" },    { "limit:a", "0", "", "1 86401" },
        { "limit:a b", "0", "", "1 0" },  { "lock:a", "0", "", "1 0" },
        { "limit:", "0", "", "1 0" },     { "permit:{a", "0", "", "1 0" },
        { "permit:a", "0", "", "1.5 0" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        run_error("override", bad[i][0], bad[i][1], bad[i][2], bad[i][3], NULL);
    ck_assert_int_eq(ask("DBSIZE")->integer, 0);
}

TEST(said_once_and_told)
{
    redisContext *listener = listen_to("overrides");

    pause_for("0");
    ck_assert_str_eq(heard(listener, "overrides"), FIELD);
    ck_assert_str_eq(flat(run("override", FIELD, "0", "bob", "", NULL)), "0");
    ck_assert_str_eq(flat(run("override", FIELD, "60000", "bob", "", NULL)), "1");
    ck_assert_str_eq(flat(run("override", FIELD, "60000", "bob", "", NULL)), "1");
    ck_assert_str_eq(field("stats", "overrides"), "1");
    ck_assert_str_eq(flat(run("override", FIELD, "", "", "", NULL)), "1");
    ck_assert_str_eq(flat(run("override", FIELD, "", "", "", NULL)), "0");
    redisFree(listener);
}

/* Other numbers are a change, which begins then. */
TEST(numbers)
{
    ck_assert_str_eq(flat(run("override", "limit:a:b=", "0", "ann", "3 0.5", NULL)), "1");
    ck_assert_str_eq(flat(run("override", "limit:a:b=", "0", "ann", "3 0.5", NULL)), "0");
    ck_assert_str_eq(flat(run("heed", NULL)), "0 limit:a:b= 3 0.5 0");
    ck_assert_str_eq(flat(run("override", "limit:a:b=", "0", "bob", "4 0.5", NULL)), "1");
    ck_assert_str_eq(flat(run("heed", NULL)), "0 limit:a:b= 4 0.5 0");
    ck_assert_str_eq(flat(run("override", "limit:a:b=", "", "", "", NULL)), "1");
    ck_assert_str_eq(flat(run("override", "permit:a", "", "", "", NULL)), "0");
    ck_assert_str_eq(flat(run("heed", NULL)), "0");
    ck_assert_str_eq(field("stats", "overrides"), "");
}

TEST(only_so_many)
{
    for (int i = 0; i < 64; i++)
        run("override", text("type:t%d", i), "0", "", "", NULL);
    run_error("override", "type:one.more", "0", "", "", NULL);
    ck_assert_str_eq(flat(run("override", "type:t63", "1000", "", "", NULL)), "1");
}

TEST(heed_tells_what_lasts)
{
    const redisReply *reply;

    ck_assert_str_eq(flat(run("heed", NULL)), "0");
    pause_for("60000");
    run("override", "type:t", "0", "", "", NULL);
    reply = run("heed", NULL);
    ck_assert_uint_eq(reply->elements, 5);
    for (size_t i = 1; i < 5; i += 2) {
        double left = atof(reply->element[i + 1]->str);

        if (strcmp(reply->element[i]->str, "type:t") == 0)
            ck_assert_str_eq(reply->element[i + 1]->str, "0");
        else
            ck_assert(left > 0 && left < 60.001);
    }
}

TEST(kept_aside_and_back_in_place)
{
    push("b");
    push("a");
    push_priority("high", 9);
    push("c");
    pause_for("0");
    keep_all();
    ck_assert_str_eq(members("delayed"), "a b c high");
    ck_assert_str_eq(members("ready"), "");
    ck_assert_int_eq(size_of("wake"), 0);
    check_sums();
    ck_assert_str_eq(flat(run("heed", NULL)), "0 " FIELD " 0");
    ck_assert_str_eq(members("delayed"), "a b c high");
    run("override", FIELD, "", "", "", NULL);
    ck_assert_str_eq(flat(run("heed", NULL)), "0");
    ck_assert_str_eq(flat(ask("ZRANGE later:{q}:ready 0 -1")), "high b a c");
    ck_assert_str_eq(members("delayed"), "");
    ck_assert_str_eq(aside(), "");
    ck_assert_int_eq(size_of("wake"), 1);
    ck_assert_int_eq(ask("EXISTS later:{q}:overrides")->integer, 0);
    ck_assert_str_eq(field("stats", "overrides"), "");
    check_sums();
}

/* Whoever gives it back has not heard yet that it is over: then it is as if it had been held. */
TEST(not_kept_when_it_is_over)
{
    push("a");
    keep_all();
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_str_eq(aside(), "");
    ck_assert_int_eq(size_of("wake"), 1);
}

TEST(what_has_changed_stays)
{
    push("gone");
    push("anew");
    push("later");
    push("kicked");
    push("ranks");
    pause_for("0");
    keep_all();
    run("cancel", "gone", "anew", NULL);
    push_when("anew", "+3600");
    run("reschedule", "later", "+900", "", NULL);
    run("reschedule", "ranks", "", "7", NULL);
    run("kick", "kicked", NULL);
    run("override", FIELD, "", "", "", NULL);
    run("heed", NULL);
    ck_assert_str_eq(flat(ask("ZRANGE later:{q}:ready 0 -1")), "ranks kicked");
    ck_assert_str_eq(members("delayed"), "later anew");
    ck_assert_str_eq(aside(), "");
    check_sums();
}

/* It keeps the place that it had first, however often it looks again. */
TEST(looks_again)
{
    push("a");
    push("b");
    pause_for("0");
    keep_all();
    ask("ZADD later:{q}:delayed XX 1 a"); /* as in a day */
    run("migrate", "500", NULL);
    keep_all();
    run("override", FIELD, "", "", "", NULL);
    run("heed", NULL);
    ck_assert_str_eq(flat(ask("ZRANGE later:{q}:ready 0 -1")), "a b");
}

/* Another job with the id of one that was kept, or one with another time, has a place of its own.
 */
TEST(another_of_its_id)
{
    push("old");
    push("late");
    push("b");
    pause_for("0");
    keep_all();
    run("cancel", "old", NULL);
    push("old");
    run("reschedule", "late", "0", "", NULL);
    keep_all();
    run("override", FIELD, "", "", "", NULL);
    run("heed", NULL);
    ck_assert_str_eq(flat(ask("ZRANGE later:{q}:ready 0 -1")), "b old late");
}

/* It was in a line before its type was paused, and is called there. */
TEST(no_line_calls_it)
{
    push("a");
    reserve('l', 1);
    run("return", member('l', "a"), "4000000000", "line:p n", NULL);
    run("kick", "a", NULL);
    pause_for("0");
    keep_all();
    ck_assert_int_eq(run("hasten", "4000000000", "500", "a", NULL)->integer, 0);
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_str_eq(aside(), "a");
}

TEST(so_many_a_call)
{
    for (int i = 0; i < 1200; i++)
        push(text("j%d", i));
    pause_for("0");
    for (int i = 0; i < 3; i++)
        keep_all();
    ck_assert_int_eq(size_of("delayed"), 1200);
    run("override", FIELD, "", "", "", NULL);
    ck_assert_str_eq(flat(run("heed", NULL)), "1");
    ck_assert_int_eq(size_of("ready"), 500);
    ck_assert_str_eq(flat(run("heed", NULL)), "1");
    ck_assert_str_eq(flat(run("heed", NULL)), "0");
    ck_assert_int_eq(size_of("ready"), 1200);
    check_sums();
}

/* In groups, too: the first of each is first; a place that is not reached yet is at the front. */
TEST(groups_come_back)
{
    run("push", "0", "new", "a1", "", "0@A", "{}", "b1", "", "0@B", "{}", "a2", "", "0@A", "{}",
        NULL);
    pause_for("0");
    keep_all();
    check_sums();
    run("override", FIELD, "", "", "", NULL);
    run("heed", NULL);
    ck_assert_str_eq(flat(ask("ZRANGE later:{q}:ready 0 0")), "a1");
    ck_assert_int_eq(size_of("ready"), 3);
    ck_assert(score("ready", "a1") <= score("ready", "a2"));
    check_sums();
}

TEST(forgotten_with_its_queue)
{
    push("a");
    pause_for("0");
    keep_all();
    run("cancel", "a", NULL);
    ck_assert_str_eq(aside(), "a");
    ck_assert_int_eq(run("forget", NULL)->integer, 0);
    ck_assert_int_eq(ask("DBSIZE")->integer, 0);
}
