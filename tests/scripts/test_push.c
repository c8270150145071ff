/* test_push.c: push: order, times, known ids, refusals. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT "{\"type\":\"t\"}"

TEST(a_job_becomes_ready)
{
    static const char document[] =
        "{\"type\":\"t\",\"payload\":[],\"n\":12345678901234567890,\"\0\"}";
    double before = now();

    arg("0");
    arg("new");
    arg("a");
    arg("");
    arg("0");
    arg_bytes(document, sizeof document - 1);
    ck_assert_str_eq(flat(run("push", NULL)), "PUSHED");
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_double_ge(score("ready", "a"), before);
    ck_assert_double_le(score("ready", "a"), now() + 0.000001);

    const redisReply *kept = ask("HGET %s a", key("jobs"));
    ck_assert_uint_eq(kept->len, sizeof document - 1);
    ck_assert_mem_eq(kept->str, document, kept->len);
    ck_assert_int_eq(stat_of("pushed"), 1);
    ck_assert_int_eq(size_of("delayed") + size_of("reserved") + size_of("dead"), 0);
    ck_assert_int_eq(ask("DBSIZE")->integer, 4); /* ready, jobs, wake, stats */
    check_sums();
    check_wake();
}

TEST(first_in_first_out)
{
    const redisReply *ids;

    for (int batch = 0; batch < 4; batch++) {
        arg("0");
        arg("new");
        for (int i = 0; i < 500; i++) {
            argf("%04d", batch * 500 + i);
            arg("");
            arg("0");
            arg(DOCUMENT);
        }
        ck_assert_uint_eq(run("push", NULL)->elements, 500);
    }
    ids = ask("ZRANGE %s 0 -1", key("ready"));
    ck_assert_uint_eq(ids->elements, 2000);
    for (size_t i = 0; i < ids->elements; i++)
        ck_assert_str_eq(ids->element[i]->str, text("%04zu", i));
    check_sums();
}

/* ---- ids that stay taken */

static const char *push_unique(const char *mode, const char *id, const char *priority)
{
    return flat(run("push", "0", mode, id, "", priority, DOCUMENT, NULL));
}

static void perform(const char *verb, const char *id)
{
    reserve('t', 1);
    ck_assert_str_eq(flat(run(verb, mine(id), NULL)), "");
}

TEST(an_id_stays_taken_after_its_job)
{
    static const char *const verbs[] = { "ack", "expire" };

    for (int i = 0; i < 2; i++) {
        double before = now();

        ck_assert_str_eq(push_unique("new", verbs[i], "0/60"), "PUSHED");
        ck_assert_str_eq(push_unique("new", verbs[i], "0"), "EXISTS ready");
        perform(verbs[i], verbs[i]);
        ck_assert_double_ge(score("unique", verbs[i]), before + 60 - 1e-6);
        ck_assert_double_le(score("unique", verbs[i]), now() + 60);
        ck_assert_str_eq(push_unique("new", verbs[i], "0"), "EXISTS ended");
        ck_assert_str_eq(push_unique("replace", verbs[i], "0/5"), "EXISTS ended");
        ck_assert_int_eq(size_of("jobs") + size_of("ready"), 0);
        check_sums();
        ck_assert_double_eq(strtod(noted("t", verbs[i]), NULL), score("unique", verbs[i]));
        note("t", verbs[i], text("%.6f", now()));
        ck_assert_str_eq(push_unique("new", verbs[i], "0"), "PUSHED");
        perform("ack", verbs[i]);
        ck_assert_str_eq(push_unique("new", verbs[i], "0"), "PUSHED");
        perform("ack", verbs[i]);
        check_sums();
    }
}

TEST(who_takes_a_job_out_frees_its_id)
{
    push_unique("new", "a", "0/60");
    ck_assert_int_eq(how_many("u"), 1);
    run("purge", "ready", "1", NULL);
    ck_assert_int_eq(how_many("u"), 0);
    push_unique("new", "a", "0/60");
    ck_assert_str_eq(flat(run("cancel", "a", NULL)), "ready");
    ck_assert_int_eq(how_many("u"), 0);
    push_unique("new", "a", "0/60");
    perform("ack", "a");
    ck_assert_str_eq(flat(run("kick", "a", NULL)), "");
    ck_assert_str_eq(flat(run("cancel", "a", "a", "b", NULL)), "ended  ");
    ck_assert_int_eq(size_of("unique") + size_of("records"), 0);
    ck_assert_int_eq(stat_of("cancelled"), 1);
    ck_assert_str_eq(push_unique("new", "a", "0/60"), "PUSHED");
    ck_assert_str_eq(push_unique("replace", "a", "0"), "REPLACED");
    ck_assert_int_eq(how_many("u"), 0);
    check_sums();
}

TEST(ids_whose_time_has_passed_go)
{
    for (int i = 0; i < 40; i++) {
        ask("ZADD %s %s o%s", key("unique"), text("%d", 1000 + i), text("%02d", i));
        note("t", text("o%02d", i), text("%d", 1000 + i));
    }
    push_unique("new", "a", "0/60");
    ck_assert_str_eq(push_unique("new", "o00", "0"), "PUSHED");
    run("migrate", "10", NULL);
    ck_assert_int_eq(size_of("unique"), 30);
    reserve('t', 2);
    run("ack", mine("a"), mine("o00"), NULL);
    ck_assert_int_eq(size_of("unique"), 29); /* for a two others went */
    ck_assert_str_eq(score_text("unique", "o11"), "");
    ck_assert_str_ne(score_text("unique", "o12"), "");
    for (int i = 0; i < 3; i++)
        run("migrate", "10", NULL);
    ck_assert_str_eq(members("unique"), "a");
    ck_assert_int_eq(how_many("t"), 1);
}

TEST(wrong_times_of_ids_are_refused)
{
    static const char *const wrong[] = { "0/",  "/5",    "0/-1",  "0/1000000001", "0/1e3",
                                         "0/x", "101/5", "1.5/5", "0/5/5" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_ptr_nonnull(strstr(run_error("push", "0", "new", "a", "", wrong[i], "{}", NULL),
                                     "ERR push: job 1: "));
    ck_assert_int_eq(ask("DBSIZE")->integer, 0);
    ck_assert_str_eq(push_unique("new", "a", "0/0"), "PUSHED");
    ck_assert_int_eq(size_of("records"), 0);
}

TEST(a_full_redis_refuses_an_id_that_is_taken_too)
{
    push_unique("new", "a", "0/60");
    push_unique("new", "a", "0");
    perform("ack", "a");
    ask("CONFIG SET maxmemory 1");
    ck_assert_ptr_nonnull(strstr(run_error("push", "0", "new", "a", "", "0", "{}", NULL), "OOM"));
    ck_assert_int_eq(stat_of("duplicate"), 1);
    ask("CONFIG SET maxmemory 0");
    ck_assert_str_eq(push_unique("new", "a", "0"), "EXISTS ended");
}

TEST(higher_priorities_come_first)
{
    static const int priorities[] = { 0, -100, 100, 1, -1, 99, 0, 100 };

    for (size_t i = 0; i < 8; i++) {
        const char *id = text("%zu", i);
        double before = now();

        push_priority(id, priorities[i]);
        ck_assert_double_eq_tol(score("ready", id), before - priorities[i] * 1e6, 1.0);
    }
    ck_assert_str_eq(members("ready"), "2 7 5 3 0 6 4 1");
    ck_assert_str_eq(noted("p", "1"), "-100");
    ck_assert_str_eq(noted("p", "2"), "100");
    ck_assert_int_eq(how_many("p"), 6); /* only where not 0 */
    check_sums();
}

TEST(a_delay_counts_from_redis_time)
{
    double before = now();

    push_when("a", "+3600.5");
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_double_ge(score("delayed", "a"), before + 3600.5);
    ck_assert_double_le(score("delayed", "a"), now() + 3600.5);
    ck_assert_int_eq(size_of("ready"), 0);
    check_wake();
    check_sums();
}

TEST(a_time_is_kept_exactly)
{
    push_when("a", "4102444800.123456");
    ck_assert_double_eq(score("delayed", "a"), 4102444800.123456);
}

/* The time goes into the document, whose other bytes stay. */
TEST(a_job_expires_some_time_from_now)
{
    static const char *const whens[] = { "!60", "+5!60", "+5/9!60.0", "4102444800!60" };
    double before = now();

    for (size_t i = 0; i < 4; i++) {
        const char *document;

        run("push", "0", "new", "a", whens[i], "0", i % 2 ? " { \"b!\":1}" : "{\"b!\":1}", NULL);
        ck_assert_str_eq(members(i ? "delayed" : "ready"), "a");
        document = field("jobs", "a") + (i % 2);
        ck_assert_mem_eq(document, "{\"expires_at\":", 14);
        ck_assert_double_ge(strtod(document + 14, NULL), before + 60 - 1e-6);
        ck_assert_double_le(strtod(document + 14, NULL), now() + 60 + 1e-6);
        ck_assert_str_eq(strchr(document, ','), ",\"b!\":1}");
        run("cancel", "a", NULL);
    }
    check_sums();
}

TEST(a_time_that_has_passed_is_now)
{
    static const char *const times[] = { "0", "1000000000", "+0", "1700000000.5" };
    double before = now();

    for (size_t i = 0; i < 4; i++)
        push_when(text("%zu", i), times[i]);
    ck_assert_str_eq(members("ready"), "0 1 2 3");
    ck_assert_double_ge(score("ready", "0"), before);
    ck_assert_int_eq(size_of("delayed"), 0);
    check_wake();
}

TEST(priority_of_a_delayed_job_is_kept_beside)
{
    double before = now();

    run("push", "0", "new", "a", "+100", "7", DOCUMENT, NULL);
    ck_assert_double_eq_tol(score("delayed", "a"), before + 100, 1.0);
    ck_assert_str_eq(noted("p", "a"), "7");
}

TEST(a_known_id_changes_nothing)
{
    static const char *const states[] = { "ready", "delayed", "reserved", "dead" };
    uint64_t before;

    one_in_each_state();
    before = digest();
    for (size_t i = 0; i < 4; i++) {
        const char *answer =
            flat(run("push", "0", "new", states[i], "+5", "3", "{\"other\":1}", NULL));

        ck_assert_str_eq(answer, text("EXISTS %s", states[i]));
    }
    ck_assert_int_eq(stat_of("duplicate"), 4);
    ask("HDEL %s duplicate", key("stats"));
    ck_assert_uint_eq(digest(), before);
    check_sums();
}

TEST(replace_renews_what_waits)
{
    one_in_each_state();
    fill_each_state();
    arg("0");
    arg("replace");
    ck_assert_str_eq(flat(run("push", "ready", "+50", "0", "{\"new\":1}", "delayed", "", "5",
                              "{\"new\":2}", NULL)),
                     "REPLACED REPLACED");
    ck_assert_str_eq(members("ready"), "delayed");
    ck_assert_str_eq(members("delayed"), "ready");
    ck_assert_double_eq_tol(score("ready", "delayed"), now() - 5e6, 1.0);
    ck_assert_str_eq(field("jobs", "ready"), "{\"new\":1}");
    ck_assert_str_eq(field("jobs", "delayed"), "{\"new\":2}");
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(noted(tags[i], "ready"), "");
        ck_assert_str_eq(noted(tags[i], "delayed"), i == 3 ? "5" : ""); /* the new priority */
    }
    ck_assert_int_eq(stat_of("replaced"), 2);
    check_sums();
    check_wake();
}

TEST(replace_leaves_reserved_and_dead_alone)
{
    uint64_t before;

    one_in_each_state();
    before = digest();
    ck_assert_str_eq(
        flat(run("push", "0", "replace", "reserved", "", "0", "{}", "dead", "", "0", "{}", NULL)),
        "EXISTS reserved EXISTS dead");
    ask("HDEL %s duplicate", key("stats"));
    ck_assert_uint_eq(digest(), before);
}

TEST(replace_of_the_last_ready_takes_the_wake_along)
{
    push("a");
    ck_assert_int_eq(size_of("wake"), 1);
    run("push", "0", "replace", "a", "+50", "0", "{}", NULL);
    check_wake();
    check_sums();
}

TEST(equal_ids_in_one_call_are_one_job)
{
    ck_assert_str_eq(flat(run("push", "0", "new", "a", "", "0", "{\"n\":1}", "a", "+9", "5",
                              "{\"n\":2}", "b", "+9", "0", "{}", "b", "", "0", "{}", NULL)),
                     "PUSHED EXISTS ready PUSHED EXISTS delayed");
    ck_assert_str_eq(members("ready"), "a");
    ck_assert_str_eq(members("delayed"), "b");
    ck_assert_str_eq(field("jobs", "a"), "{\"n\":1}");
    ck_assert_int_eq(how_many("p"), 0);
    ck_assert_int_eq(stat_of("duplicate"), 2);
    check_sums();
}

/* Where they replace each other the last one is it. */
TEST_EACH(the_last_of_equal_ids_replaces_the_others, 2)
{
    static const char *const modes[] = { "replace", "again" };

    push("c");
    arg("0");
    arg(modes[_i]);
    ck_assert_str_eq(flat(run("push", "a", "", "7", "{\"n\":1}", "b", "+9", "0", "{}", "a", "+9/20",
                              "0", "{\"n\":2}", "b", "", "-5", "{\"n\":3}", "c", "+9", "0", "{}",
                              "c", "", "0", "{\"n\":4}", NULL)),
                     "PUSHED PUSHED REPLACED REPLACED REPLACED REPLACED");
    ck_assert_str_eq(members("ready"), "c b");
    ck_assert_str_eq(members("delayed"), "a");
    ck_assert_str_eq(field("jobs", "a"), "{\"n\":2}");
    ck_assert_str_eq(field("jobs", "b"), "{\"n\":3}");
    ck_assert_str_eq(field("jobs", "c"), "{\"n\":4}");
    ck_assert_str_eq(noted("p", "a"), "");
    ck_assert_str_eq(noted("p", "b"), "-5");
    ck_assert_int_eq(stat_of("replaced"), 4);
    check_sums();
}

TEST(a_call_repeated_answers_the_same)
{
    const char *first;
    uint64_t before;
    long long life;

    push("b");
    first = flat(run("push", "60", "new", "a", "", "0", "{}", "b", "", "0", "{}", NULL));
    ck_assert_str_eq(first, "PUSHED EXISTS ready");
    before = digest();
    ck_assert_str_eq(flat(run("push", "60", "new", "a", "", "0", "{}", "b", "", "0", "{}", NULL)),
                     first);
    ck_assert_uint_eq(digest(), before);

    reserve('t', 2);
    run("ack", mine("a"), mine("b"), NULL);
    before = digest();
    ck_assert_str_eq(flat(run("push", "60", "new", "a", "", "0", "{}", "b", "", "0", "{}", NULL)),
                     first);
    ck_assert_uint_eq(digest(), before);
    life = ask("PTTL later:{q}:call:c")->integer;
    ck_assert_int_gt(life, 0);
    ck_assert_int_le(life, 60000);
    ck_assert_str_eq(flat(run("push", "0", "new", "a", "", "0", "{}", NULL)), "PUSHED");
    check_sums();
}

TEST(a_paused_queue_takes_jobs_without_wake)
{
    run("pause", NULL);
    push("a");
    ck_assert_str_eq(members("ready"), "a");
    check_wake();
    ck_assert_int_eq(size_of("wake"), 0);
}

TEST(wake_never_has_two)
{
    ask("RPUSH %s 1 1 1", key("wake"));
    push("a");
    push("b");
    check_wake();
}

/* remember, mode, id, when, priority, document: one of them is wrong. */
static const char *const refused[][6] = {
    { "-1", "new", "x", "", "0", "{}" },
    { "1.5", "new", "x", "", "0", "{}" },
    { "nan", "new", "x", "", "0", "{}" },
    { "inf", "new", "x", "", "0", "{}" },
    { "", "new", "x", "", "0", "{}" },
    { "86401", "new", "x", "", "0", "{}" },
    { "0x10", "new", "x", "", "0", "{}" },
    { "0", "", "x", "", "0", "{}" },
    { "0", "old", "x", "", "0", "{}" },
    { "0", "new", "", "", "0", "{}" },
    { "0", "new", "a b", "", "0", "{}" },
    { "0", "new", "a\nb", "", "0", "{}" },
    { "0", "new", "\x7f", "", "0", "{}" },
    { "0", "new", "\xc3\xa4", "", "0", "{}" },
    { "0", "new", "x", "inf", "0", "{}" },
    { "0", "new", "x", "nan", "0", "{}" },
    { "0", "new", "x", "0x10", "0", "{}" },
    { "0", "new", "x", "-1", "0", "{}" },
    { "0", "new", "x", "+-1", "0", "{}" },
    { "0", "new", "x", "+", "0", "{}" },
    { "0", "new", "x", "++1", "0", "{}" },
    { "0", "new", "x", "+inf", "0", "{}" },
    { "0", "new", "x", "+nan", "0", "{}" },
    { "0", "new", "x", "1e3", "0", "{}" },
    { "0", "new", "x", " 1", "0", "{}" },
    { "0", "new", "x", "1,5", "0", "{}" },
    { "0", "new", "x", "soon", "0", "{}" },
    { "0", "new", "x", "100000000001", "0", "{}" },
    { "0", "new", "x", "", "101", "{}" },
    { "0", "new", "x", "", "-101", "{}" },
    { "0", "new", "x", "", "1.5", "{}" },
    { "0", "new", "x", "", "inf", "{}" },
    { "0", "new", "x", "", "nan", "{}" },
    { "0", "new", "x", "", "0x10", "{}" },
    { "0", "new", "x", "", "1e1", "{}" },
    { "0", "new", "x", "", "", "{}" },
    { "0", "new", "x", "", " 5", "{}" },
    { "0", "new", "x", "", "+5", "{}" },
    { "0", "replace", "x", "", "high", "{}" },
    { "0", "new", "x", "", "0", "" },
    { "0", "new", "x", "!0", "0", "{1:1}" },
    { "0", "new", "x", "!", "0", "{\"a\":1}" },
    { "0", "new", "x", "!5", "0", "{}" },
    { "0", "new", "x", "!5", "0", "[1]" },
    { "0", "new", "x", "5!9", "0", "{\"a\":1}" },
    { "0", "new", "x", "!5!9", "0", "{\"a\":1}" },
    { "0", "new", "x", "0.5", "0", "{}" },
    { "0", "new", "x", "999999999.9", "0", "{}" },
};

TEST(what_is_refused_changes_nothing)
{
    char long_id[202];
    uint64_t before;

    one_in_each_state();
    before = digest();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        /* A good job comes before the bad one. It must not be pushed either. */
        arg(refused[i][0]);
        arg(refused[i][1]);
        ck_assert_mem_eq(run_error("push", "good", "", "5", "{}", refused[i][2], refused[i][3],
                                   refused[i][4], refused[i][5], NULL),
                         "ERR push: ", 10);
        ck_assert_msg(digest() == before, "row %zu changed something", i);
    }
    memset(long_id, 'x', 201);
    long_id[201] = '\0';
    run_error("push", "0", "new", long_id, "", "0", "{}", NULL);
    run_error("push", "0", "new", "a", "", "0", NULL);
    run_error("push", "0", NULL, NULL);
    ck_assert_uint_eq(digest(), before);
    long_id[200] = '\0';
    run("push", "0", "new", long_id, "", "0", "{}", NULL);
    ck_assert_int_eq(size_of("ready"), 2);
}

TEST(a_delay_without_its_plus_is_named)
{
    ck_assert_str_eq(run_error("push", "0", "new", "x", "5", "0", "{}", NULL),
                     "ERR push: job 1: the time 5 is before 2001: +5 was meant?");
}

/* ---- max_jobs */

TEST(a_full_queue_takes_no_more)
{
    one_in_each_state();
    ask("HSET %s max_jobs 6", key("stats"));
    arg("0");
    arg("new");
    for (const char *id = "abcb"; *id; id++) {
        argf("%c", *id);
        arg("");
        arg("0");
        arg(DOCUMENT);
    }
    ck_assert_str_eq(flat(run("push", "dead", "", "0", "{}", NULL)),
                     "PUSHED PUSHED FULL EXISTS ready EXISTS dead");
    ck_assert_int_eq(size_of("jobs"), 6);
    ck_assert_str_eq(field("jobs", "c"), "");
    ck_assert_int_eq(stat_of("refused"), 1);
    ck_assert_int_eq(stat_of("pushed"), 6);
    ck_assert_int_eq(stat_of("duplicate"), 2);
    check_sums();
    ck_assert_str_eq(flat(run("push", "0", "replace", "a", "+9", "0", "{}", NULL)), "REPLACED");
    ck_assert_str_eq(flat(run("push", "0", "seek", "c", "", "0", "{}", NULL)), "ABSENT");
    run("ack", member('r', "reserved"), NULL);
    ck_assert_str_eq(flat(run("push", "0", "new", "c", "+9", "5", "{}", "d", "", "0", "{}", NULL)),
                     "PUSHED FULL");
    check_sums();
}

TEST(a_full_queue_is_left_as_it_was)
{
    uint64_t before;

    one_in_each_state();
    ask("HSET %s max_jobs 4 refused 7", key("stats"));
    run("push", "0", "new", "x", "+9", "5/60", "{}", NULL);
    ck_assert_int_eq(stat_of("refused"), 8);
    ask("HSET %s refused 7", key("stats"));
    before = digest();
    ck_assert_str_eq(flat(run("push", "0", "new", "x", "+9", "5/60", "{}", NULL)), "FULL");
    ask("HSET %s refused 7", key("stats"));
    ck_assert_uint_eq(digest(), before);
    ask("HSET %s refused none", key("stats"));
    ck_assert_str_eq(flat(run("push", "0", "new", "x", "", "0", "{}", NULL)), "FULL");
}

TEST(full_is_remembered_by_its_call)
{
    ask("HSET %s max_jobs 1", key("stats"));
    push("a");
    ck_assert_str_eq(flat(run("push", "60", "new", "b", "", "0", "{}", NULL)), "FULL");
    ask("HDEL %s max_jobs", key("stats"));
    ck_assert_str_eq(flat(run("push", "60", "new", "b", "", "0", "{}", NULL)), "FULL");
    ck_assert_str_eq(flat(run("push", "0", "new", "b", "", "0", "{}", NULL)), "PUSHED");
}

TEST(no_number_is_no_limit)
{
    static const char *const limits[] = { "0", "-1", "", "none", "nan", "inf", "1e9" };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        ask("HSET %s max_jobs %s", key("stats"), limits[i]);
        push(text("%zu", i));
        ck_assert_int_eq(size_of("jobs"), (long long)i + 1);
    }
}

TEST(plain_members_are_taken_by_a_full_queue)
{
    ask("HSET %s max_jobs 1", key("stats"));
    push("a");
    ask("ZADD %s 0 {}", key("ready"));
    ck_assert_uint_eq(jobs_in(reserve('t', 10)), 2);
    ck_assert_str_eq(flat(run("push", "0", "new", "b", "", "0", "{}", NULL)), "FULL");
    check_sums();
}

TEST(five_hundred_and_one_are_refused)
{
    arg("0");
    arg("new");
    for (int i = 0; i < 501; i++) {
        argf("%d", i);
        arg("");
        arg("0");
        arg("{}");
    }
    run_error("push", NULL);
    ck_assert_int_eq(ask("DBSIZE")->integer, 0);
}

TEST(due_is_told_of_the_earliest_only)
{
    redisContext *listener = listen_to("due");

    push("now");
    ck_assert_str_eq(heard(listener, "due"), "end");
    push_when("a", "+100");
    ck_assert_str_eq(heard(listener, "due"), score_text("delayed", "a"));
    push_when("later", "+200");
    ck_assert_str_eq(heard(listener, "due"), "end");
    push_when("sooner", "+50");
    ck_assert_str_eq(heard(listener, "due"), score_text("delayed", "sooner"));
    reserve('t', 1);
    run("release", mine("now"), "60", "ran", "", NULL);
    ck_assert_str_eq(heard(listener, "due"), "end");
    push("next");
    reserve('u', 1);
    run("return", member('u', "next"), "10", "held", NULL);
    ck_assert_str_eq(heard(listener, "due"), score_text("delayed", "next"));
    redisFree(listener);
}
