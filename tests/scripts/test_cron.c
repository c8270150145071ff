/* test_cron.c: schedules: each tick is pushed once, whatever happens. */
#include "harness.h"

#include "base/digest.h"
#include "queue/crontab.h"

#include <stdlib.h>
#include <string.h>

#define DOCUMENT "{\"type\":\"t\",\"payload\":[]}"

/* --- what the tests are made of --- */

/* The definition with these lines. */
static const char *definition(const char *lines)
{
    return text("at=* * * * *\n%s\n" DOCUMENT, lines);
}

static const char *sha_of(const char *lines)
{
    static char hex[LATER_DIGEST_SIZE];
    const char *whole = definition(lines);

    later_digest(whole, strlen(whole), hex);
    return hex;
}

static long present(void)
{
    return (long)now();
}

/* Makes the schedule `s`, whose next tick was this many seconds ago. */
static long make(const char *lines, long ago)
{
    long tick = present() - ago;

    ck_assert_str_eq(
        run("cron_put", "s", definition(lines), text("%ld", present() + 100), "set", NULL)
            ->element[0]
            ->str,
        "PUT");
    ask("ZADD %s %ld s", key("cron"), tick);
    return tick;
}

/* A tick has some outcome. The next tick is 100 s later. */
static const char *fire_at(const char *lines, long expected, long tick)
{
    return run("cron_fire", "s", text("%ld", expected), sha_of(lines), text("%ld", tick),
               text("%ld", tick + 100), "0", "0", NULL)
        ->element[0]
        ->str;
}

static const char *fire(const char *lines, long tick)
{
    return fire_at(lines, tick, tick);
}

static const char *state(const char *tag)
{
    return value_in(field("crontab", "s:state"), tag);
}

/* --- once --- */

TEST(a_tick_is_pushed_once)
{
    long tick = make("", 1);
    const char *id = text("cron:s:%ld", tick);

    ck_assert_str_eq(fire("", tick), "FIRED");
    ck_assert_str_eq(members("ready"), id);
    ck_assert_str_eq(field("jobs", id), DOCUMENT);
    ck_assert_int_eq(stat_of("pushed"), 1);
    ck_assert_double_eq(score("cron", "s"), (double)tick + 100);
    ck_assert_str_eq(state("fired"), "1");
    ck_assert_str_eq(state("tick"), text("%ld", tick));
    check_wake();

    reserve('t', 1);
    run("ack", mine(id), NULL); /* the id is forgotten */
    ck_assert_str_eq(fire("", tick), "MOVED");
    ck_assert_int_eq(stat_of("pushed"), 1);
    check_sums();
}

TEST(never_early)
{
    long tick = make("", -5);

    ck_assert_ptr_nonnull(
        strstr(run_error("cron_fire", "s", text("%ld", tick), sha_of(""), text("%ld", tick),
                         text("%ld", tick + 100), "0", "0", NULL),
               "tick <= the present"));
    ck_assert_str_eq(run("cron_fire", "s", text("%ld", tick), sha_of(""), "",
                         text("%ld", tick + 100), "0", "0", NULL)
                         ->element[0]
                         ->str,
                     "MOVED");
    ck_assert_int_eq(size_of("jobs"), 0);
    ck_assert_double_eq(score("cron", "s"), (double)tick);
}

/* A host that has read the schedule before an edit fires neither the old nor the new definition. */
TEST(not_by_an_old_definition)
{
    long tick = make("", 1);

    make("priority=5\n", 1);
    ask("ZADD %s %ld s", key("cron"), tick);
    ck_assert_str_eq(fire("", tick), "MOVED");
    ck_assert_int_eq(size_of("jobs"), 0);
    ck_assert_str_eq(fire("priority=5\n", tick), "FIRED");
    ck_assert_double_lt(score("ready", text("cron:s:%ld", tick)), now() - 4e6);
}

TEST(a_job_has_its_group)
{
    static const char lines[] = "group=acme\npriority=1\n";
    long tick = make(lines, 1);
    const char *id = text("cron:s:%ld", tick);

    ck_assert_str_eq(fire(lines, tick), "FIRED");
    ck_assert_str_eq(strchr(noted("q", id), ' '), " acme");
    ck_assert_double_eq_tol(atof(noted("q", id)), now(), 60);
    ck_assert_str_eq(noted("p", id), "1");
    check_sums();
}

TEST(a_job_expires_after_it_was_due)
{
    long tick = make("expires_in=90\n", 1);

    ck_assert_str_eq(fire("expires_in=90\n", tick), "FIRED");
    ck_assert_str_eq(field("jobs", text("cron:s:%ld", tick)),
                     text("{\"expires_at\":%ld.000000,%s", tick + 90, &DOCUMENT[1]));
}

TEST(a_later_tick_counts_what_is_missed)
{
    long tick = make("", 500);

    ck_assert_str_eq(run("cron_fire", "s", text("%ld", tick), sha_of(""), text("%ld", tick + 400),
                         text("%ld", tick + 600), "4", "0", NULL)
                         ->element[0]
                         ->str,
                     "FIRED");
    ck_assert_str_eq(members("ready"), text("cron:s:%ld", tick + 400));
    ck_assert_str_eq(state("missed"), "4");
}

TEST(a_delay_is_kept)
{
    long tick = make("", 1);

    run("cron_fire", "s", text("%ld", tick), sha_of(""), text("%ld", tick), text("%ld", tick + 100),
        "0", "60", NULL);
    ck_assert_double_eq(score("delayed", text("cron:s:%ld", tick)), (double)tick + 60);
}

/* --- the last job is still there --- */

static const char *const jobs_of[] = { "ready", "delayed", "reserved", "dead" };

/* The last job of the schedule is in this state; the next tick fires. */
static const char *overlap(const char *policy, size_t in)
{
    const char *lines = text("overlap=%s\npriority=5\n", policy);
    long tick;

    ask("FLUSHALL");
    tick = make(lines, 10);
    ck_assert_str_eq(fire(lines, tick), "FIRED");
    if (in >= 2)
        reserve('t', 1);
    if (in == 3)
        run("bury", mine(text("cron:s:%ld", tick)), "ran", "\"kind\":\"retry\"}", NULL);
    if (in == 1) {
        ask("ZREM %s cron:s:%ld", key("ready"), tick);
        ask("ZADD %s 4000000000 cron:s:%ld", key("delayed"), tick);
    }
    ck_assert_int_eq(size_of("jobs"), 1);
    ask("ZADD %s %ld s", key("cron"), tick + 5);
    return fire(lines, tick + 5);
}

TEST(overlap_allow)
{
    for (size_t in = 0; in < 4; in++) {
        ck_assert_str_eq(overlap("allow", in), "FIRED");
        ck_assert_int_eq(size_of("jobs"), 2);
        check_sums();
    }
}

TEST(overlap_skip)
{
    for (size_t in = 0; in < 4; in++) {
        ck_assert_msg(strcmp(overlap("skip", in), in < 3 ? "SKIPPED" : "FIRED") == 0, "%s",
                      jobs_of[in]);
        ck_assert_int_eq(size_of("jobs"), in < 3 ? 1 : 2);
        ck_assert_str_eq(state("skipped"), in < 3 ? "1" : "");
        check_sums();
    }
}

TEST(overlap_queue)
{
    for (size_t in = 0; in < 4; in++) {
        ck_assert_msg(strcmp(overlap("queue", in), in < 2 ? "SKIPPED" : "FIRED") == 0, "%s",
                      jobs_of[in]);
        ck_assert_int_eq(size_of("jobs"), in < 2 ? 1 : 2);
        check_sums();
    }
}

TEST(overlap_replace)
{
    for (size_t in = 0; in < 4; in++) {
        ck_assert_str_eq(overlap("replace", in), "FIRED");
        ck_assert_int_eq(size_of("jobs"), in < 2 ? 1 : 2);
        ck_assert_int_eq(stat_of("cancelled"), in < 2);
        ck_assert_int_eq(size_of("records"), size_of("jobs")); /* of none that has gone */
        check_sums();
    }
}

/* --- put, pause --- */

static const char *put(const char *lines, long next, const char *origin)
{
    return run("cron_put", "s", definition(lines), text("%ld", next), origin, NULL)
        ->element[0]
        ->str;
}

/* Two jobs, and none more: not if a host that knows no counts writes it again, nor if somebody
 * gives it a tick by hand. A higher limit lets it go on. */
TEST(a_limit_ends_it)
{
    static const char two[] = "limit=2\n";
    long tick = make(two, 150);

    ck_assert_str_eq(fire(two, tick), "FIRED");
    ck_assert_double_eq(score("cron", "s"), (double)tick + 100);
    ck_assert_str_eq(fire(two, tick + 100), "FIRED");
    ck_assert_str_eq(score_text("cron", "s"), "inf");
    ck_assert_str_eq(put(two, present() + 100, "config:h"), "SAME");
    ck_assert_str_eq(score_text("cron", "s"), "inf");
    ask("ZADD %s %ld s", key("cron"), present());
    ck_assert_str_eq(fire(two, (long)score("cron", "s")), "OVER");
    ck_assert_str_eq(score_text("cron", "s"), "inf");
    ck_assert_int_eq(stat_of("pushed"), 2);
    ck_assert_str_eq(put("limit=3\n", present() + 100, "set"), "PUT");
    ck_assert_double_ge(score("cron", "s"), (double)present() + 98);
}

TEST(put_keeps_the_past)
{
    long tick = make("", 1);

    fire("", tick);
    ck_assert_str_eq(put("", present() - 100, "set"), "AGAIN");
    ck_assert_str_eq(put("", tick, "set"), "AGAIN");
    ck_assert_double_eq(score("cron", "s"), (double)tick + 100);
    ck_assert_str_eq(put("", present() + 7, "config:h"), "SAME"); /* by other zone data */
    ck_assert_str_eq(state("origin"), "config:h");
    ck_assert_str_eq(put("late=5\n", present() + 9, "set"), "PUT");
    ck_assert_str_eq(state("fired"), "1");
    ck_assert_double_ge(score("cron", "s"), (double)present() + 8);
}

/* A host that only announces a schedule does not move a tick that is due. */
TEST(put_leaves_what_is_due)
{
    long tick = make("", 1);

    ck_assert_str_eq(put("", present() + 100, "config:h"), "SAME");
    ck_assert_double_eq(score("cron", "s"), (double)tick);
}

/* Nor does an edit: the tick is fired by the new definition, as in faults/model/cron.pml. */
TEST(an_edit_loses_no_tick)
{
    long tick = make("", 1);

    ck_assert_str_eq(put("late=5\n", present() + 100, "set"), "PUT");
    ck_assert_double_eq(score("cron", "s"), (double)tick);
    ck_assert_str_eq(fire("", tick), "MOVED");
    ck_assert_str_eq(fire("late=5\n", tick), "FIRED");
    ck_assert_double_eq(score("cron", "s"), (double)tick + 100);
}

TEST(paused_stays_so)
{
    make("", 1);
    ck_assert_str_eq(flat(run("cron_move", "pause", "s", "", "none", "", NULL)), "1 0");
    ck_assert_str_eq(score_text("cron", "s"), "inf");
    ck_assert_str_eq(put("late=5\n", present() + 9, "set"), "PUT");
    ck_assert_str_eq(score_text("cron", "s"), "inf");
    ck_assert_str_eq(flat(run("cron_move", "resume", "s", "4000000000", NULL)), "1");
    ck_assert_str_eq(score_text("cron", "s"), "4000000000");
}

/* The tick is neither pushed after the pause nor lost without a trace. */
TEST(a_pause_counts_the_tick_that_has_come)
{
    long tick = make("", 1);

    ck_assert_str_eq(flat(run("cron_move", "pause", "s", "", NULL)), "1");
    ck_assert_str_eq(state("missed"), "1");
    ck_assert_str_eq(state("tick"), text("%ld", tick));
    ck_assert_str_eq(state("outcome"), "missed");
    ck_assert_str_eq(fire("", tick), "MOVED");
    ck_assert_str_eq(flat(run("cron_move", "pause", "s", "", NULL)), "1");
    ck_assert_str_eq(state("missed"), "1"); /* it is over */
    ck_assert_str_eq(flat(run("cron_move", "resume", "s", "4000000000", NULL)), "1");
    ck_assert_str_eq(flat(run("cron_move", "pause", "s", "", NULL)), "1");
    ck_assert_str_eq(state("missed"), "1"); /* that one has not come */
}

/* --- put by one who knows no calendars --- */

static const char *put_asking(const char *lines)
{
    return run("cron_put", "s", definition(lines), "?", "set", NULL)->element[0]->str;
}

/* Makes the schedule `s`, whose question came up this many seconds ago. Returns when that was. */
static long make_asked(const char *lines, long ago)
{
    long asked = make(lines, ago);

    ask("HSET %s s:state asked=%ld", key("crontab"), asked);
    return asked;
}

TEST(a_laterd_is_asked)
{
    long before = present();
    const char *asked;

    ck_assert_str_eq(put_asking(""), "PUT");
    asked = state("asked");
    ck_assert_int_gt(atol(asked), before);
    ck_assert_int_le(atol(asked), present() + 1);
    ck_assert_str_eq(score_text("cron", "s"), asked);
    ask("ZADD %s 4000000000 s", key("cron"));
    ck_assert_str_eq(put_asking(""), "SAME");
    ck_assert_str_eq(score_text("cron", "s"), "4000000000");
    ck_assert_str_eq(put_asking("late=5\n"), "PUT");
    ck_assert_double_le(score("cron", "s"), (double)present() + 1);
}

TEST(a_question_is_no_tick)
{
    long asked = make_asked("", 1);

    ck_assert_str_eq(
        run("cron_fire", "s", text("%ld", asked), sha_of(""), "", "4000000000", "0", "0", NULL)
            ->element[0]
            ->str,
        "PLACED");
    ck_assert_str_eq(score_text("cron", "s"), "4000000000");
    ck_assert_str_eq(state("asked"), "");
    ck_assert_str_eq(state("tick"), "");
    ck_assert_str_eq(state("missed"), "");
    ck_assert_int_eq(size_of("jobs"), 0);
}

/* It came in the second of a tick, or long after. */
TEST(a_question_may_find_a_tick)
{
    long asked = make_asked("", 50);

    ck_assert_str_eq(fire_at("", asked, asked + 30), "FIRED");
    ck_assert_str_eq(state("asked"), "");
    ck_assert_str_eq(state("tick"), text("%ld", asked + 30));
}

TEST(a_question_loses_no_tick)
{
    long tick = make("", 1);

    ck_assert_str_eq(put_asking("late=5\n"), "PUT");
    ck_assert_double_eq(score("cron", "s"), (double)tick);
    ck_assert_str_eq(state("asked"), "");
    ck_assert_str_eq(fire("late=5\n", tick), "FIRED");
    ck_assert_str_eq(put_asking(""), "PUT"); /* the next one has not come */
    ck_assert_str_eq(state("asked"), score_text("cron", "s"));
}

TEST(a_question_is_over)
{
    make_asked("", 1);
    ck_assert_str_eq(flat(run("cron_move", "pause", "s", "", NULL)), "1");
    ck_assert_str_eq(state("missed"), ""); /* it was no tick */
    ck_assert_str_eq(put_asking("late=5\n"), "PUT");
    ck_assert_str_eq(score_text("cron", "s"), "inf");
    ck_assert_str_eq(state("asked"), "");
    make_asked("", -50);
    ck_assert_str_eq(put("", present() + 70, "set"), "SAME"); /* by one who knows */
    ck_assert_str_eq(state("asked"), "");
}

/* --- one that no laterd can read --- */

static const char *hold_back(const char *lines, long tick)
{
    return run("cron_fire", "s", text("%ld", tick), sha_of(lines), "", "?", "0", "0", NULL)
        ->element[0]
        ->str;
}

/* What cron_look says is its next tick. */
static const char *next_of(void)
{
    return run("cron_look", "=s", "1", NULL)->element[3]->str;
}

TEST(a_held_tick_comes_again)
{
    long tick = make("", 1), before = present();

    ck_assert_str_eq(hold_back("late=5\n", tick), "MOVED");
    ck_assert_str_eq(hold_back("", tick + 1), "MOVED");
    ck_assert_str_eq(hold_back("", tick), "HELD");
    ck_assert_double_ge(score("cron", "s"), (double)before + LATER_CRON_HELD);
    ck_assert_double_le(score("cron", "s"), (double)present() + LATER_CRON_HELD);
    ck_assert_str_eq(next_of(), text("%ld", tick));
    ck_assert_uint_eq(run("cron_look", "due", "9", NULL)->elements, 2); /* others are not held up */
    ck_assert_str_eq(state("tick"), "");
    ck_assert_int_eq(size_of("jobs"), 0);

    ask("ZADD %s 1 s", key("cron"));
    ck_assert_str_eq(next_of(), text("%ld", tick));
    ck_assert_str_eq(hold_back("", tick), "HELD"); /* again */
    ck_assert_str_eq(fire("", tick), "FIRED");     /* by one that can read it */
    ck_assert_double_eq(score("cron", "s"), (double)tick + 100);
    ck_assert_str_eq(state("held"), "");
    ck_assert_str_eq(state("missed"), "");
}

TEST(a_held_tick_is_fired_by_a_new_definition)
{
    long tick = make("", 1);

    ck_assert_str_eq(hold_back("", tick), "HELD");
    ck_assert_str_eq(put("late=5\n", present() + 70, "set"), "PUT");
    ck_assert_double_eq(score("cron", "s"), (double)tick);
    ck_assert_str_eq(state("held"), "");
    ck_assert_str_eq(fire("late=5\n", tick), "FIRED");
}

TEST(a_held_question_stays_one)
{
    long asked = make_asked("", 1);

    ck_assert_str_eq(hold_back("", asked), "HELD");
    ck_assert_str_eq(state("asked"), text("%ld", asked));
    ck_assert_str_eq(
        run("cron_fire", "s", text("%ld", asked), sha_of(""), "", "4000000000", "0", "0", NULL)
            ->element[0]
            ->str,
        "PLACED");
    ck_assert_str_eq(state("held"), "");
    ck_assert_str_eq(state("missed"), "");
}

TEST(a_held_tick_is_missed_by_a_pause)
{
    long tick = make("", 1);

    ck_assert_str_eq(hold_back("", tick), "HELD");
    ck_assert_str_eq(flat(run("cron_move", "seen", "s", "config:h:2", NULL)), "1");
    ck_assert_str_eq(state("held"), text("%ld", tick));
    ck_assert_str_eq(flat(run("cron_move", "pause", "s", "", NULL)), "1");
    ck_assert_str_eq(state("held"), "");
    ck_assert_str_eq(state("missed"), "1");
    ck_assert_str_eq(state("tick"), text("%ld", tick));
    ck_assert_str_eq(next_of(), "inf");
}

TEST(a_held_tick_ends_with_another_one)
{
    ck_assert_str_eq(hold_back("", make("", 1)), "HELD");
    ck_assert_str_eq(flat(run("cron_move", "resume", "s", "4000000000", NULL)), "1");
    ck_assert_str_eq(state("held"), "");
    ck_assert_str_eq(next_of(), "4000000000");
}

/* --- drop, look --- */
TEST(dropped_by_its_owner_only)
{
    make("", 1);
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "config:h", NULL)), "0");
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "set", NULL)), "1");
    ck_assert_int_eq(size_of("cron") + size_of("crontab"), 0);
}

/* Whoever has it in his configuration keeps it; the last one takes it along. */
TEST(dropped_by_the_last_that_has_it)
{
    make("", 1);
    put("", present() + 100, "config:h:1");
    run("cron_move", "seen", "s", "config:h:2", "s", "config:h:3", NULL);
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "config:h:1", NULL)), "0");
    ck_assert_str_eq(state("origin"), "config:h:3");
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "config:h:2", NULL)), "0");
    ck_assert_str_eq(state("origin"), "config:h:3");
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "config:h:1", NULL)), "0");
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "config:h:3", NULL)), "1");
    ck_assert_int_eq(size_of("cron") + size_of("crontab"), 0);
}

/* Who has not named it for a while is gone, and holds nothing. */
TEST(dropped_though_one_had_it_long_ago)
{
    make("", 1);
    put("", present() + 100, "config:h:1");
    ask("HSET %s s:state origin=config:h:1\nby=config:h:2@%ld\n", key("crontab"), present() - 200);
    ck_assert_str_eq(flat(run("cron_move", "drop", "s", "config:h:1", NULL)), "1");
}

/* A schedule that no configuration has any more does not fire, and goes at last. */
TEST(stale_rests)
{
    long tick = make("", 1);

    put("", present() + 100, "config:h");
    ask("HSET %s s:state origin=config:h\nseen=%ld\n", key("crontab"), present() - 601);
    ck_assert_str_eq(fire("", tick), "STALE");
    ck_assert_int_eq(size_of("jobs"), 0);
    ck_assert_double_eq(score("cron", "s"), (double)tick + 100);
    run("cron_move", "seen", "s", "", NULL);
    ask("ZADD %s %ld s", key("cron"), tick);
    ck_assert_str_eq(fire("", tick), "FIRED");
    ask("HSET %s s:state origin=config:h\nseen=%ld\n", key("crontab"), present() - 604900);
    ask("ZADD %s %ld s", key("cron"), tick);
    ck_assert_str_eq(fire("", tick), "STALE");
    ck_assert_int_eq(size_of("crontab"), 0);
}

TEST(looks)
{
    const redisReply *reply;

    make("", 1);
    run("cron_put", "other", definition(""), "4000000000", "set", NULL);
    reply = run("cron_look", "due", "10", NULL);
    ck_assert_uint_eq(reply->elements, 2 + 5);
    ck_assert_str_eq(reply->element[1]->str, "0.000000");
    ck_assert_str_eq(reply->element[2]->str, "s");
    ck_assert_str_eq(reply->element[4]->str, sha_of(""));
    ck_assert_str_eq(reply->element[5]->str, "at=* * * * *\n");
    ck_assert_uint_eq(run("cron_look", "0", "500", NULL)->elements, 2 + 2 * 5);
    ck_assert_str_eq(run("cron_look", "0", "500", NULL)->element[1]->str, "0.000000");
    ck_assert_uint_eq(run("cron_look", "1", "500", NULL)->elements, 2 + 5);
    ck_assert_str_eq(run("cron_look", "=other", "1", NULL)->element[3]->str, "4000000000");
    ck_assert_uint_eq(run("cron_look", "=none", "1", NULL)->elements, 2);
    ck_assert_double_gt(strtod(run("migrate", "500", NULL)->element[4]->str, NULL), -1);
}

/* Before the first write a full Redis refuses all of it. */
TEST(a_full_redis_changes_nothing)
{
    long tick = make("", 1);

    ask("CONFIG SET maxmemory 1");
    ck_assert_ptr_nonnull(
        strstr(run_error("cron_fire", "s", text("%ld", tick), sha_of(""), text("%ld", tick),
                         text("%ld", tick + 100), "0", "0", NULL),
               "OOM"));
    ask("CONFIG SET maxmemory 0");
    ck_assert_double_eq(score("cron", "s"), (double)tick);
    ck_assert_int_eq(size_of("jobs"), 0);
    ck_assert_str_eq(fire("", tick), "FIRED");
}

TEST(a_full_queue_skips)
{
    long tick = make("", 1);

    ask("HSET %s max_jobs 1", key("stats"));
    push("a");
    ck_assert_str_eq(fire("", tick), "FULL");
    ck_assert_str_eq(state("skipped"), "1");
    ck_assert_int_eq(stat_of("refused"), 1);
    ck_assert_int_eq(size_of("jobs"), 1);
}
