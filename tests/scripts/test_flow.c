/* test_flow.c: jobs that wait for jobs: flow_push, and what every ending of a job tells its flow.
 */
#include "flow.h"

#include <string.h>

TEST(a_chain_runs_one_after_the_other)
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

TEST(it_waits_for_all_that_it_names)
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

TEST(a_batch_has_three_callbacks)
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

TEST(dead_blocks_and_kick_goes_on)
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

TEST(gone_by_cancel)
{
    three();
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "ready");
    check_gone(GONE);
}

TEST(gone_by_expire)
{
    three();
    run("expire", member(begin("a"), "a"), NULL);
    check_gone(GONE);
}

TEST(gone_by_purge)
{
    three();
    run("purge", "ready", "500", NULL);
    check_gone(GONE);
}

TEST(gone_by_trim)
{
    three();
    fails("a");
    ask("ZADD %s 1000000000 a", key("dead"));
    run("trim", "0", "1000", "500", NULL);
    check_gone(GONE);
}

TEST(gone_by_act)
{
    three();
    run("act", "cancel", "ready", "", "a", "", NULL);
    check_gone(GONE);
}

TEST(a_step_that_never_came)
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

TEST(kick_runs_one_that_waits)
{
    push_pair();
    ck_assert_str_eq(flat(run("kick", "b", NULL)), "waiting");
    ck_assert_int_eq(size_of("waiting"), 0);
    done("a");
    done("b");
    ck_assert_int_eq(stat_of("done"), 2);
    check_sums();
}

TEST(a_delay_counts_from_then)
{
    flow("1");
    job_as("b", "b", "a", "+100", "7");
    job("a", "", "done");
    pushed();
    done("a");
    ck_assert_str_eq(members("delayed"), "b");
    ck_assert_double_gt(score("delayed", "b"), now() + 90);
    ck_assert_str_eq(noted("p", "b"), "7");
}

/* One with a priority, and perhaps a group. */
static void ranked(const char *step, const char *after, const char *priority)
{
    job_as(step, step, after, "", priority);
}

TEST(what_may_run_is_ready_at_once)
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

TEST(a_paused_queue_gets_no_wake)
{
    char token;

    push_pair();
    token = begin("a");
    run("pause", NULL);
    run("ack", member(token, "a"), NULL);
    ck_assert_str_eq(members("ready"), "b");
    check_wake();
    ck_assert_int_eq(size_of("wake"), 0);
    run("resume", NULL);
    done("b");
}

/* The first that may run now is handed out in the same call. */
TEST(a_step_takes_what_it_frees)
{
    const redisReply *reply;

    flow("1");
    job("d", "b", "done");
    job("c", "a", "done");
    job("b", "a", "done");
    job("a", "", "done");
    pushed();
    reserve('t', 1);
    reply = run("step", "ssssssssssssssss", "30", "1", "262144", "", "", mine("a"), NULL);
    ck_assert_uint_eq(reply->elements, 4);
    ck_assert_str_eq(told(reply, 0, ID), "c");
    ck_assert_str_eq(members("ready"), "b");
    ck_assert_int_eq(size_of("wake"), 1);
    check_sums();
    reply = run("step", "uuuuuuuuuuuuuuuu", "30", "1", "262144", "", "", member('s', "c"), NULL);
    ck_assert_str_eq(told(reply, 0, ID), "b");
    ck_assert_int_eq(size_of("wake"), 0);
    reply = run("step", "vvvvvvvvvvvvvvvv", "30", "1", "262144", "", "", member('u', "b"), NULL);
    ck_assert_str_eq(told(reply, 0, ID), "d");
    ck_assert_int_eq(size_of("ready") + size_of("wake"), 0);
    check_sums();
}

/* Of very many the rest becomes ready by migrate. */
TEST(no_more_than_500_at_once)
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
        arg(mine(text("s%d", i)));
    ck_assert_str_eq(flat(run("ack", NULL)), "");
    ck_assert_int_eq(size_of("ready"), 500);
    ck_assert_int_eq(size_of("delayed"), 100);
    check_wake();
    check_sums();
    run("migrate", "500", NULL);
    ck_assert_int_eq(size_of("ready"), 600);
    check_sums();
}

/* Of what one call ends, some are steps, and some belong to two flows. */
TEST(many_are_done_at_once)
{
    flow("1");
    job("ok", "*", "done");
    job("next", "a", "done");
    job("a", "", "done");
    for (const char *const *id = (const char *const[]){ "m", "n", "o", NULL }; *id; id++)
        job_as(*id, "", "", "", "0");
    pushed();
    flow_by("g", "", "1");
    job("end", "*", "done");
    job_as("n", "", "", "", "0");
    job_as("p", "", "", "", "0");
    ck_assert_str_eq(pushed(), "WAITING EXISTS ready PUSHED");
    reserve('t', 5);
    arg(mine("m"));
    arg("o");
    ck_assert_str_eq(flat(run("ack", NULL)), "");
    ck_assert_int_eq(count_of_flow("done"), 2);
    ck_assert_int_eq(count_of_flow("open"), 2);
    check_sums();
    hold_by("tttttttttttttttt");
    ck_assert_str_eq(flat(run("ack_all", "3", NULL)), "");
    ck_assert_int_eq(count_of_flow("done"), 4);
    ck_assert_str_eq(members("waiting"), "ok");
    ck_assert_str_eq(members("ready"), "end next");
    check_sums();
    done("end");
    done("next");
    done("ok");
    check_sums();
    ck_assert_double_lt(score("flows", "f"), now() + 61);
    ck_assert_double_lt(score("flows", "g"), now() + 61);
}

/* They take turns with those of other groups. */
TEST(its_group_has_its_share)
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

/* All is checked first; and a full Redis lets it go on. */
TEST(an_end_that_cannot_be_told_is_none)
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

TEST(what_cannot_be)
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
    job_as("other", "a", "", "", "0");
    ck_assert_ptr_nonnull(strstr(run_error("flow_push", NULL), "step a is job a"));
    ck_assert_int_eq(stat_of("pushed"), 1);
}
