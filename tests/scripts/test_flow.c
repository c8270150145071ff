/* test_flow.c: jobs that wait for jobs: flow_push, and what every ending of a job tells its flow.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

/* The next job of the next flow_push: waits for `after`, as `when`. Its id is that of its step. */
static void job(const char *step, const char *after, const char *when)
{
    arg(step);
    arg(step);
    arg(after);
    arg(when);
    arg("");
    arg("0");
    arg("{\"type\":\"t\"}");
}

/* The beginning of a flow_push to flow f, which is closed then or not. */
static void flow(const char *close)
{
    arg("f");
    arg("");
    arg(close);
    arg("60");
}

static const char *pushed(void)
{
    return flat(run("flow_push", NULL));
}

/* Reserves the first ready job, which must be this one, under a token of its own. */
static char begin(const char *id)
{
    static char token;

    token = token >= 'a' && token < 'z' ? (char)(token + 1) : 'a';
    run("migrate", "500", NULL);
    ck_assert_str_eq(told(reserve(token, 1), 0, ID), id);
    return token;
}

static void done(const char *id)
{
    ck_assert_str_eq(flat(run("ack", member(begin(id), id), NULL)), "");
}

static void fails(const char *id)
{
    ck_assert_str_eq(flat(run("bury", member(begin(id), id), "ran", ERROR, NULL)), "");
}

static long long count_of_flow(const char *name)
{
    return atoll(field("flow:f", name));
}

START_TEST(a_chain_runs_one_after_the_other)
{
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING WAITING PUSHED");
    ck_assert_str_eq(members("waiting"), "c b");
    check_sums();
    done("a");
    ck_assert_str_eq(members("waiting"), "c");
    check_sums();
    done("b");
    done("c");
    ck_assert_int_eq(count_of_flow("done"), 3);
    ck_assert_int_eq(count_of_flow("open") + count_of_flow("waiting"), 0);
    ck_assert_int_eq(size_of("records"), 0);
    check_sums();
}
END_TEST

START_TEST(it_waits_for_all_that_it_names)
{
    flow("1");
    job("d", "a,b", "done");
    job("a", "", "done");
    job("b", "", "done");
    pushed();
    done("a");
    ck_assert_str_eq(members("waiting"), "d");
    done("b");
    done("d");
    check_sums();
}
END_TEST

START_TEST(a_batch_has_three_callbacks)
{
    flow("0");
    job("ok", "*", "done");
    job("over", "*", "ended");
    job("alarm", "*", "failed");
    job("a", "", "done");
    job("b", "", "done");
    pushed();
    done("a");
    done("b");
    ck_assert_int_eq(size_of("waiting"), 3); /* more may come */
    flow("1");
    ck_assert_str_eq(pushed(), "");
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "ok over");
    ck_assert_str_eq(field("jobs", "alarm"), ""); /* was not needed */
    ck_assert_int_eq(stat_of("cancelled"), 1);
    ck_assert_str_eq(score_text("flows", "f"), "inf");
    check_sums();
    done("ok");
    done("over");
    ck_assert_double_lt(score("flows", "f"), now() + 61);
}
END_TEST

START_TEST(dead_blocks_and_kick_goes_on)
{
    flow("1");
    job("ok", "*", "done");
    job("over", "*", "ended");
    job("alarm", "*", "failed");
    job("next", "a", "done");
    job("a", "", "done");
    pushed();
    fails("a");
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "alarm"); /* `next` has not ended, so `over` waits */
    ck_assert_str_eq(members("dead"), "a");
    ck_assert_str_eq(members("waiting"), "ok over next");
    ck_assert_int_eq(count_of_flow("dead"), 1);
    check_sums();
    done("alarm");
    ck_assert_str_eq(flat(run("kick", "a", NULL)), "dead");
    ck_assert_int_eq(count_of_flow("dead"), 0);
    done("a");
    done("next");
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "ok over");
    check_sums();
}
END_TEST

/* Nobody can do what is gone. */
static void check_gone(const char *reason)
{
    ck_assert_str_eq(members("dead"), "b");
    ck_assert_ptr_nonnull(strstr(noted("e", "b"), reason));
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "alarm");
    check_sums();
    ck_assert_str_eq(flat(run("kick", "b", NULL)), "dead"); /* all the same */
    done("alarm");
    done("b");
    ck_assert_int_eq(count_of_flow("gone"), 1);
    check_sums();
}

static void three(void)
{
    flow("1");
    job("b", "a", "done");
    job("alarm", "b", "failed");
    job("a", "", "done");
    pushed();
}

#define GONE "needs step a of flow f, which was cancelled, purged, expired or trimmed"

START_TEST(gone_by_cancel)
{
    three();
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "ready");
    check_gone(GONE);
}
END_TEST

START_TEST(gone_by_expire)
{
    three();
    run("expire", member(begin("a"), "a"), NULL);
    check_gone(GONE);
}
END_TEST

START_TEST(gone_by_purge)
{
    three();
    run("purge", "ready", "500", NULL);
    check_gone(GONE);
}
END_TEST

START_TEST(gone_by_trim)
{
    three();
    fails("a");
    ask("ZADD %s 1000000000 a", key("dead"));
    run("trim", "0", "1000", "500", NULL);
    check_gone(GONE);
}
END_TEST

START_TEST(gone_by_act)
{
    three();
    run("act", "cancel", "ready", "", "a", "", NULL);
    check_gone(GONE);
}
END_TEST

START_TEST(a_step_that_never_came)
{
    flow("0");
    job("b", "a", "done");
    pushed();
    ck_assert_str_eq(members("waiting"), "b");
    flow("1");
    pushed();
    ck_assert_str_eq(members("dead"), "b");
    ck_assert_ptr_nonnull(strstr(noted("e", "b"), "needs step a of flow f, which does not exist"));
    check_sums();
}
END_TEST

START_TEST(pushed_again_adds_what_is_missing)
{
    flow("0");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    done("a");
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready EXISTS done");
    check_sums();
    done("b");
    done("c");
    flow("1");
    job("b", "a", "done");
    ck_assert_str_eq(pushed(), "EXISTS done");
    ck_assert_int_eq(stat_of("pushed"), 3);
}
END_TEST

START_TEST(closed_but_for_those_inside)
{
    flow("1");
    job("a", "", "done");
    pushed();
    flow("0");
    job("b", "", "done");
    ck_assert_str_eq(pushed(), "CLOSED");
    arg("f");
    arg("a");
    arg("0");
    arg("60");
    job("b", "a", "done");
    ck_assert_str_eq(pushed(), "WAITING");
    done("a");
    arg("f");
    arg("a");
    arg("0");
    arg("60");
    job("c", "", "done");
    ck_assert_str_eq(pushed(), "CLOSED");
    done("b");
}
END_TEST

START_TEST(a_job_that_was_there_belongs_to_both)
{
    push("a");
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready");
    arg("g");
    arg("");
    arg("1");
    arg("60");
    job("c", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready");
    ck_assert_str_eq(noted("f", "a"), "f g");
    done("a");
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "b c");
    check_sums();
}
END_TEST

/* Pushes job d, which waits in flow f, for flow g as well, and there w, which waits for d. */
static void push_d_for_g(const char *when)
{
    arg("g");
    arg("");
    arg("1");
    arg("60");
    job("d", "", "done");
    job("w", "d", when);
    ck_assert_str_eq(pushed(), "EXISTS waiting WAITING");
    check_sums();
}

START_TEST(one_that_waits_in_another_flow)
{
    flow("1");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    push_d_for_g("done");
    ck_assert_str_eq(members("waiting"), "d w");
    done("a");
    ck_assert_str_eq(field("flow:g", "open"), "1");
    done("d");
    done("w");
    ck_assert_str_eq(field("flow:g", "done"), "2");
    check_sums();
}
END_TEST

/* In the second flow it has no step; what it names there does not matter, since it is as it was. */
START_TEST(one_without_a_step_that_waits_in_another_flow)
{
    flow("1");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    arg("g");
    arg("");
    arg("1");
    arg("60");
    arg("d");
    arg("");
    arg("x");
    arg("done");
    arg("");
    arg("0");
    arg("{}");
    job("x", "", "done");
    ck_assert_str_eq(pushed(), "EXISTS waiting PUSHED");
    done("a");
    done("x");
    done("d");
    ck_assert_str_eq(field("flow:g", "done"), "2");
    check_sums();
}
END_TEST

START_TEST(one_that_another_flow_buries)
{
    flow("1");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    push_d_for_g("failed");
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "ready");
    ck_assert_str_eq(members("dead"), "d");
    ck_assert_str_eq(field("flow:g", "dead"), "1");
    done("w");
    check_sums();
}
END_TEST

START_TEST(one_that_another_flow_does_not_need)
{
    flow("1");
    job("d", "a", "failed");
    job("a", "", "done");
    pushed();
    push_d_for_g("ended");
    done("a");
    ck_assert_str_eq(field("flow:g", "skipped"), "1");
    done("w");
    ck_assert_double_lt(score("flows", "g"), now() + 61); /* it has ended */
    check_sums();
}
END_TEST

/* What did not fit is pushed by the same call again, and the flow is closed then. */
START_TEST(a_full_queue_leaves_it_open)
{
    ask("HSET later:{q}:stats max_jobs 2");
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "WAITING WAITING FULL");
    ck_assert_str_eq(members("waiting"), "c b");
    ck_assert_str_eq(field("flow:f", "closed"), "0");
    ask("HSET later:{q}:stats max_jobs 3");
    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "EXISTS waiting EXISTS waiting PUSHED");
    ck_assert_str_eq(field("flow:f", "closed"), "1");
    done("a");
    done("b");
    done("c");
    check_sums();
}
END_TEST

/* Somebody has put a job that waits into `ready` by hand. */
START_TEST(one_that_a_plain_zadd_names)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    ask("ZADD later:{q}:ready 1 b");
    done("b");
    ck_assert_int_eq(size_of("waiting"), 0);
    done("a");
    ck_assert_int_eq(count_of_flow("done"), 2);
    check_sums();
}
END_TEST

START_TEST(a_replaced_one_is_still_of_the_flow)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    ck_assert_str_eq(flat(run("push", "0", "replace", "a", "", "5", "{}", NULL)), "REPLACED");
    done("a");
    done("b");
    check_sums();
}
END_TEST

START_TEST(kick_runs_one_that_waits)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    ck_assert_str_eq(flat(run("kick", "b", NULL)), "waiting");
    ck_assert_int_eq(size_of("waiting"), 0);
    done("a");
    done("b");
    ck_assert_int_eq(stat_of("done"), 2);
    check_sums();
}
END_TEST

START_TEST(a_delay_counts_from_then)
{
    flow("1");
    arg("b");
    arg("b");
    arg("a");
    arg("done");
    arg("+100");
    arg("7");
    arg("{}");
    job("a", "", "done");
    pushed();
    done("a");
    ck_assert_str_eq(members("delayed"), "b");
    ck_assert_double_gt(score("delayed", "b"), now() + 90);
    ck_assert_str_eq(noted("p", "b"), "7");
}
END_TEST

/* One with a priority, and perhaps a group. */
static void ranked(const char *step, const char *after, const char *priority)
{
    arg(step);
    arg(step);
    arg(after);
    arg("done");
    arg("");
    arg(priority);
    arg("{}");
}

START_TEST(what_may_run_is_ready_at_once)
{
    flow("1");
    job("b", "a", "done");
    ranked("c", "a", "7");
    job("d", "a", "done");
    job("a", "", "done");
    pushed();
    done("a");
    ck_assert_str_eq(members("ready"), "c b d");
    ck_assert_double_eq_tol(score("ready", "c"), now() - 7000000, 30);
    ck_assert_int_eq(size_of("delayed"), 0);
    check_wake();
    ck_assert_int_eq(size_of("wake"), 1);
    check_sums();
}
END_TEST

START_TEST(a_paused_queue_gets_no_wake)
{
    char token;

    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    token = begin("a");
    run("pause", NULL);
    run("ack", member(token, "a"), NULL);
    ck_assert_str_eq(members("ready"), "b");
    check_wake();
    ck_assert_int_eq(size_of("wake"), 0);
    run("resume", NULL);
    done("b");
}
END_TEST

/* The first that may run now is handed out in the same call. */
START_TEST(a_step_takes_what_it_frees)
{
    const redisReply *reply;

    flow("1");
    job("d", "b", "done");
    job("c", "a", "done");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    reserve('t', 1);
    reply = run("step", "ssssssssssssssss", "30", "1", "262144", member('t', "a"), NULL);
    ck_assert_uint_eq(reply->elements, 4);
    ck_assert_str_eq(told(reply, 0, ID), "c");
    ck_assert_str_eq(members("ready"), "b");
    ck_assert_int_eq(size_of("wake"), 1);
    check_sums();
    reply = run("step", "uuuuuuuuuuuuuuuu", "30", "1", "262144", member('s', "c"), NULL);
    ck_assert_str_eq(told(reply, 0, ID), "b");
    ck_assert_int_eq(size_of("wake"), 0);
    reply = run("step", "vvvvvvvvvvvvvvvv", "30", "1", "262144", member('u', "b"), NULL);
    ck_assert_str_eq(told(reply, 0, ID), "d");
    ck_assert_int_eq(size_of("ready") + size_of("wake"), 0);
    check_sums();
}
END_TEST

/* Of very many the rest becomes ready by migrate. */
START_TEST(no_more_than_500_at_once)
{
    flow("0");
    for (int i = 0; i < 6; i++)
        job(text("s%d", i), "", "done");
    pushed();
    for (int i = 0; i < 6; i++) {
        flow(i == 5 ? "1" : "0");
        for (int n = 0; n < 100; n++)
            job(text("w%d.%d", i, n), text("s%d", i), "done");
        pushed();
    }
    reserve('t', 6);
    for (int i = 0; i < 6; i++)
        arg(member('t', text("s%d", i)));
    ck_assert_str_eq(flat(run("ack", NULL)), "");
    ck_assert_int_eq(size_of("ready"), 500);
    ck_assert_int_eq(size_of("delayed"), 100);
    check_wake();
    check_sums();
    run("migrate", "500", NULL);
    ck_assert_int_eq(size_of("ready"), 600);
    check_sums();
}
END_TEST

/* They take turns with those of other groups. */
START_TEST(its_group_has_its_share)
{
    flow("1");
    for (int i = 0; i < 3; i++)
        ranked(text("b%d", i), "a", "0@B");
    for (int i = 0; i < 3; i++)
        ranked(text("c%d", i), "", "0@C");
    ranked("a", "", "9");
    pushed();
    done("a");
    run("migrate", "500", NULL); /* gives places */
    ck_assert_str_eq(members("ready"), "b0 c0 b1 c1 b2 c2");
    ck_assert_str_eq(strchr(noted("q", "b0"), ' '), " B");
    check_sums();
    for (const char *const *id = (const char *const[]){ "b0", "c0", "b1", "c1", NULL }; *id; id++)
        done(*id);
    check_sums();
}
END_TEST

/* All is checked first; and a full Redis lets it go on. */
START_TEST(an_end_that_cannot_be_told_is_none)
{
    static const char *const wrong[] = { "ready", "fair", "delayed", "dead", "waiting" };
    const char *held;

    flow("1");
    job("c", "b", "done");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    held = member(begin("a"), "a");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t before;

        ask_error("RENAME %s %s", key(wrong[i]), key("aside"));
        ask("SET %s 1", key(wrong[i]));
        before = digest();
        ck_assert_mem_eq(run_error("ack", held, NULL), "WRONGTYPE", 9);
        ck_assert_uint_eq(digest(), before);
        ask("DEL %s", key(wrong[i]));
        ask_error("RENAME %s %s", key("aside"), key(wrong[i]));
    }
    ask("CONFIG SET maxmemory 1");
    ck_assert_str_eq(flat(run("ack", held, NULL)), "");
    ask("CONFIG SET maxmemory 0");
    ck_assert_str_eq(members("ready"), "b");
    check_wake();
    check_sums();
}
END_TEST

START_TEST(told_twice_counts_once)
{
    flow("1");
    job("over", "*", "ended");
    job("a", "", "done");
    pushed();
    done("a");
    push("a"); /* another job of this id: none of the flow's */
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "over a");
    run("cancel", "a", NULL);
    ck_assert_int_eq(count_of_flow("done"), 1);
    ck_assert_int_eq(count_of_flow("gone"), 0);
}
END_TEST

START_TEST(an_old_name_is_free_again)
{
    flow("1");
    job("a", "", "done");
    pushed();
    done("a");
    flow("1");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "EXISTS done");
    ask("ZADD %s 1 f", key("flows"));
    flow("1");
    job("a", "", "done");
    ck_assert_str_eq(pushed(), "PUSHED");
    ck_assert_int_eq(count_of_flow("done"), 0);
    check_sums();
}
END_TEST

START_TEST(what_cannot_be)
{
    flow("1");
    job("a", "b,b/", "done");
    ck_assert_ptr_nonnull(strstr(run_error("flow_push", NULL), "waits for at most 100 steps"));
    flow("1");
    job("a", "b", "never");
    ck_assert_ptr_nonnull(strstr(run_error("flow_push", NULL), "when is done, ended or failed"));
    flow("0");
    job("a", "", "done");
    pushed();
    flow("0");
    arg("other");
    arg("a");
    arg("");
    arg("done");
    arg("");
    arg("0");
    arg("{}");
    ck_assert_ptr_nonnull(strstr(run_error("flow_push", NULL), "step a is job a"));
    ck_assert_int_eq(stat_of("pushed"), 1);
}
END_TEST

/* ---- values along the edges */

/* Done, with a value. */
static void gives(const char *id, const char *value)
{
    run("finish", member(begin(id), id), "done", value, "0", NULL);
}

/* What a job gets, of at most so many bytes: `nil` for what did not fit. */
static const char *gets(const char *id, const char *most)
{
    return flat(run("values", "f", id, most, NULL));
}

START_TEST(values_go_along)
{
    flow("1");
    job("c", "a,b,x", "ended");
    job("b", "a", "done");
    job("a", "", "done");
    job("x", "", "done");
    job("d", "", "done");
    pushed();
    ck_assert_str_eq(noted("v", "c"), "f");
    ck_assert_str_eq(noted("s", "a"), "1");
    gives("a", "{\"n\": [1]}");
    ck_assert_str_eq(gets("b", "1048576"), " a {\"n\": [1]}");
    fails("x");
    gives("d", "4"); /* nobody waits for it */
    done("b");
    ck_assert_str_eq(gets("c", "1048576"), " a {\"n\": [1]} b  x ");
    ck_assert_int_eq(size_of("flow:f:values"), 1);
    ck_assert_str_eq(gets("a", "1048576"), "");
    ck_assert_str_eq(gets("none", "1048576"), "");
    check_sums();
}
END_TEST

START_TEST(values_of_many_go_along)
{
    flow("1");
    job("c", "a,b,x", "ended");
    job("a", "", "done");
    job("b", "", "done");
    job("x", "", "done");
    job("d", "", "done");
    pushed();
    reserve('t', 500);
    run("ack", member('t', "x"), NULL);
    run("finish_all", "0", "0", member('t', "a"), "[1]", "0", "", member('t', "b"), "null", "0", "",
        member('t', "d"), "4", "0", "", member('t', "x"), "5", "0", "", NULL);
    ck_assert_str_eq(gets("c", "1048576"), " a [1] b  x ");
    ck_assert_int_eq(size_of("flow:f:values"), 1);
    run("migrate", "500", NULL);
    ck_assert_str_eq(members("ready"), "c");
    check_sums();
}
END_TEST

/* It is the same in its second attempt. */
START_TEST(values_outlive_an_attempt)
{
    char token;

    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    gives("a", "7");
    token = begin("b");
    ck_assert_str_eq(gets("b", "100"), " a 7");
    run("release", member(token, "b"), "0", "ran", ERROR, NULL);
    ck_assert_str_eq(noted("v", "b"), "f");
    ck_assert_str_eq(gets("b", "100"), " a 7");
    gives("b", "8");
    ask("ZADD %s 1 f", key("flows")); /* its time is over */
    flow("0");
    job("a", "", "done");
    pushed();
    ck_assert_int_eq(ask("EXISTS %s", key("flow:f:values"))->integer, 0);
}
END_TEST

START_TEST(values_have_room)
{
    const char *big =
        text("\"%.*s\"", 60, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");

    flow("1");
    job("d", "a,b,c", "done");
    job("a", "", "done");
    job("b", "", "done");
    job("c", "", "done");
    pushed();
    gives("a", big);
    gives("b", big);
    gives("c", "1");
    ck_assert_str_eq(gets("d", "63"), text(" a %s b nil c 1", big));
    ck_assert_str_eq(gets("d", "0"), " a nil b nil c nil");
    ck_assert_ptr_nonnull(strstr(run_error("values", "f", "d", "1048577", NULL), "ERR values"));
}
END_TEST

/* A flow that is open may get one that waits for it. */
START_TEST(values_for_those_who_come_later)
{
    flow("0");
    job("a", "", "done");
    pushed();
    gives("a", "5");
    flow("1");
    job("b", "a", "done");
    ck_assert_str_eq(pushed(), "WAITING");
    ck_assert_str_eq(gets("b", "100"), " a 5");
}
END_TEST

START_TEST(lost_gives_nothing)
{
    char token;

    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    token = begin("a");
    run("return", member(token, "a"), "0", "held", NULL);
    ck_assert_str_eq(flat(run("finish", member(token, "a"), "done", "5", "0", NULL)), "1");
    ck_assert_int_eq(ask("EXISTS %s", key("flow:f:values"))->integer, 0);
    gives("a", "6");
    ck_assert_str_eq(gets("b", "100"), " a 6");
}
END_TEST

/* `*` gets counts, and who failed: first those who failed first. */
START_TEST(all_get_the_counts)
{
    flow("1");
    job("end", "*", "ended");
    job("a", "", "done");
    job("b", "", "done");
    job("c", "", "done");
    job("d", "", "done");
    pushed();
    fails("a");
    fails("b");
    run("cancel", "d", NULL);
    ck_assert_str_eq(gets("end", "1048576"),
                     "{\"name\":\"f\",\"total\":4,\"open\":1,\"waiting\":0,\"done\":0,\"dead\":2,"
                     "\"gone\":1,\"skipped\":0,\"failed\":[\"a\",\"b\",\"d\"]}");
    run("kick", "a", NULL);
    run("cancel", "b", NULL); /* dead before, and gone now */
    ck_assert_str_eq(members("flow:f:failed"), "b d");
    ck_assert_str_eq(gets("end", "64"),
                     "{\"name\":\"f\",\"total\":4,\"open\":2,\"waiting\":0,\"done\":0,\"dead\":0,"
                     "\"gone\":2,\"skipped\":0,\"failed\":[\"b\"]}");
    check_sums();
}
END_TEST

/* What others have put there hinders no job. */
START_TEST(values_of_another_type)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    job("x", "", "done");
    pushed();
    ask("SET %s 1", key("flow:f:values"));
    ask("SET %s 1", key("flow:f:failed"));
    gives("a", "5");
    fails("x");
    done("b");
    check_sums();
}
END_TEST

/* A later job of its id is of the flow if the one before did not end well; then it gets the same.
 */
START_TEST(values_of_one_that_is_replaced)
{
    flow("1");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    gives("a", "5");
    run("migrate", "500", NULL);
    ck_assert_str_eq(flat(run("push", "0", "replace", "b", "", "3", "{\"n\":1}", NULL)),
                     "REPLACED");
    ck_assert_str_eq(noted("v", "b"), "f");
    ck_assert_str_eq(noted("p", "b"), "3");
    ck_assert_str_eq(gets("b", "100"), " a 5");
    done("b");
    ck_assert_int_eq(size_of("records"), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { a_chain_runs_one_after_the_other,
                                   it_waits_for_all_that_it_names,
                                   a_batch_has_three_callbacks,
                                   dead_blocks_and_kick_goes_on,
                                   gone_by_cancel,
                                   gone_by_expire,
                                   gone_by_purge,
                                   gone_by_trim,
                                   gone_by_act,
                                   a_step_that_never_came,
                                   pushed_again_adds_what_is_missing,
                                   closed_but_for_those_inside,
                                   a_job_that_was_there_belongs_to_both,
                                   one_that_waits_in_another_flow,
                                   one_without_a_step_that_waits_in_another_flow,
                                   one_that_another_flow_buries,
                                   one_that_another_flow_does_not_need,
                                   a_full_queue_leaves_it_open,
                                   one_that_a_plain_zadd_names,
                                   a_replaced_one_is_still_of_the_flow,
                                   kick_runs_one_that_waits,
                                   a_delay_counts_from_then,
                                   what_may_run_is_ready_at_once,
                                   a_paused_queue_gets_no_wake,
                                   a_step_takes_what_it_frees,
                                   no_more_than_500_at_once,
                                   its_group_has_its_share,
                                   an_end_that_cannot_be_told_is_none,
                                   told_twice_counts_once,
                                   an_old_name_is_free_again,
                                   what_cannot_be,
                                   values_go_along,
                                   values_of_many_go_along,
                                   values_outlive_an_attempt,
                                   values_have_room,
                                   values_for_those_who_come_later,
                                   lost_gives_nothing,
                                   all_get_the_counts,
                                   values_of_another_type,
                                   values_of_one_that_is_replaced,
                                   NULL };

    return harness_main("flow", tests);
}
