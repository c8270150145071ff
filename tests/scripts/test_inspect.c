/* test_inspect.c: peek, show, size. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN "{\"type\":\"plain\"}"

TEST(peek_shows_each_state)
{
    static const char *const states[] = { "ready", "delayed", "reserved", "dead" };
    uint64_t before;

    one_in_each_state();
    fill_each_state();
    before = digest();
    for (size_t i = 0; i < 4; i++) {
        const char *id = states[i];
        const char *set_member = strcmp(id, "reserved") == 0 ? member('r', id) : id;

        const char *shown;

        hold_by("rrrrrrrrrrrrrrrr");
        shown = strcmp(id, "reserved") == 0
                    ? ask("ZSCORE %s reserved", held_by("rrrrrrrrrrrrrrrr"))->str
                    : score_text(id, set_member);
        ck_assert_str_eq(flat(run("peek", id, "0", "10", NULL)),
                         text("%s %s " FULL_RECORD " {\"type\":\"t\"}", id, shown));
    }
    ck_assert_uint_eq(digest(), before);
}

TEST(peek_pages_in_order)
{
    const redisReply *reply;

    for (int i = 0; i < 7; i++)
        push_priority(text("%d", i), i % 2);
    reply = run("peek", "ready", "2", "3", NULL);
    ck_assert_uint_eq(reply->elements, 12);
    ck_assert_str_eq(reply->element[0]->str, "5");
    ck_assert_str_eq(reply->element[2]->str, "p=1\n");
    ck_assert_str_eq(reply->element[4]->str, "0");
    ck_assert_str_eq(reply->element[6]->str, "");
    ck_assert_str_eq(reply->element[8]->str, "2");
    ck_assert_uint_eq(run("peek", "ready", "5", "500", NULL)->elements, 8);
    ck_assert_uint_eq(run("peek", "ready", "7", "500", NULL)->elements, 0);
    ck_assert_uint_eq(run("peek", "dead", "0", "500", NULL)->elements, 0);
}

TEST(peek_is_bounded_in_bytes)
{
    static const size_t sizes[] = { 1400000, 400000, 648576, 1 }; /* 1 MiB after the first */
    char *document = malloc(sizes[0]);

    memset(document, ' ', sizes[0]);
    for (int i = 0; i < 4; i++) {
        arg("0");
        arg("new");
        argf("%d", i);
        arg("");
        arg("0");
        arg_bytes(document, sizes[i]);
        run("push", NULL);
    }
    free(document);
    ck_assert_uint_eq(run("peek", "ready", "0", "10", NULL)->elements, 4); /* at least one */
    ck_assert_uint_eq(run("peek", "ready", "1", "10", NULL)->elements, 8);
    ck_assert_uint_eq(run("peek", "ready", "2", "10", NULL)->elements, 8);
}

TEST(peek_shows_plain_members)
{
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ck_assert_str_eq(flat(run("peek", "ready", "0", "10", NULL)), " 0  " PLAIN);
}

TEST(show_tells_of_each_state)
{
    uint64_t before;

    one_in_each_state();
    fill_each_state();
    before = digest();
    ck_assert_str_eq(flat(run("show", "ready", "delayed", "reserved", "dead", "none", NULL)),
                     text("ready %s " FULL_RECORD " {\"type\":\"t\"} delayed %s " FULL_RECORD
                          " {\"type\":\"t\"} reserved  " FULL_RECORD
                          " {\"type\":\"t\"} dead %s " FULL_RECORD " {\"type\":\"t\"}    ",
                          score_text("ready", "ready"), score_text("delayed", "delayed"),
                          score_text("dead", "dead")));
    ck_assert_uint_eq(digest(), before);
}

TEST(locate_tells_every_set)
{
    uint64_t before;

    one_in_each_state();
    ask("ZADD %s 1 %s", key("dead"), "ready"); /* a foreign hand's */
    before = digest();
    ck_assert_str_eq(flat(run("locate", "ready", NULL)), "1 0 1 0 0 1");
    ck_assert_str_eq(flat(run("locate", "delayed", NULL)), "0 1 0 0 0 1");
    ck_assert_str_eq(flat(run("locate", "dead", NULL)), "0 0 1 0 0 1");
    ck_assert_str_eq(flat(run("locate", "reserved", NULL)), "0 0 0 0 0 1");
    ck_assert_str_eq(flat(run("locate", member('r', "reserved"), NULL)), "0 0 0 1 0 1");
    ck_assert_str_eq(flat(run("locate", mine("none"), NULL)), "0 0 0 0 0 0");
    ck_assert_uint_eq(digest(), before);
}

TEST(refused_questions)
{
    static const char *const wrong[][3] = {
        { "gone", "0", "1" },   { "", "0", "1" },         { "ready", "-1", "1" },
        { "ready", "x", "1" },  { "ready", "nan", "1" },  { "ready", "0", "0" },
        { "ready", "0", "-1" }, { "ready", "0", "501" },  { "ready", "0", "1.5" },
        { "ready", "0", "" },   { "ready", "0", "0x10" }, { "READY", "0", "1" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_mem_eq(run_error("peek", wrong[i][0], wrong[i][1], wrong[i][2], NULL),
                         "ERR peek: ", 10);
    }
}

/* ---- size */

TEST(size_counts_all_of_one_moment)
{
    const redisReply *reply;

    ck_assert_str_eq(flat(run("size", NULL)), "0 0 0 0 0  0 overdue 0 waiting 0 news_left 0 "
                                              "news_age 0 plan ");
    one_in_each_state();
    fill_each_state();
    push("ready2");
    push_when("delayed2", "+100");
    push_when("delayed3", "+100");
    run("pause", NULL);
    ask("SET %s %s", key("shards"), "7 4 1");
    reply = run("size", NULL);
    ck_assert_str_eq(text("%.10s", flat(reply)), "2 3 1 1 1 ");
    ck_assert_int_eq(reply->element[6]->integer, 7);
    ck_assert_uint_eq(reply->elements % 2, 1);
    ck_assert_uint_eq(reply->elements, 7 + 2 * (size_t)size_of("stats") + 10);
    for (size_t i = 7; i < reply->elements - 10; i += 2) {
        ck_assert_str_eq(reply->element[i + 1]->str, text("%lld", stat_of(reply->element[i]->str)));
    }
    ck_assert_str_eq(reply->element[reply->elements - 10]->str, "overdue");
    ck_assert_int_eq(reply->element[reply->elements - 9]->integer, 0);
    ck_assert_str_eq(reply->element[reply->elements - 2]->str, "plan");
    ck_assert_str_eq(reply->element[reply->elements - 1]->str, "7 4 1");
}

/* The age of the oldest ready job by size. */
static double oldest(void)
{
    const char *age = run("size", NULL)->element[5]->str;

    return *age ? strtod(age, NULL) : -1;
}

/* Pushes a ready job of this priority, this many seconds ago. */
static void ready_since(const char *id, int priority, double age)
{
    push_priority(id, priority);
    ask("ZADD %s %s %s", key("ready"), text("%.6f", now() - age - priority * 1e6), id);
}

TEST(the_oldest_ready_job_is_found_in_any_priority)
{
    static const int bands[] = { 0, 5, -3, 100, -100 };

    for (size_t i = 0; i < 5; i++) { /* each time the newest band holds the oldest */
        ready_since(text("a%zu", i), bands[i], 100.0 * (double)(i + 1));
        ready_since(text("b%zu", i), bands[i], 10);
        ck_assert_double_eq_tol(oldest(), 100.0 * (double)(i + 1), 5);
    }
    for (size_t i = 5; i > 0; i--) {
        run("cancel", text("a%zu", i - 1), NULL);
        ck_assert_double_eq_tol(oldest(), i > 1 ? 100.0 * (double)(i - 1) : 10, 5);
    }
}

TEST(before_everything_has_no_age)
{
    ask("ZADD %s 0 %s", key("ready"), PLAIN);
    ck_assert_double_eq(oldest(), -1);
    ready_since("a", 0, 20);
    ck_assert_double_eq_tol(oldest(), 20, 5);
    ask("ZADD %s %s plain", key("ready"), text("%.0f", now() - 40));
    ck_assert_double_eq_tol(oldest(), 40, 5);
    ask("ZADD %s inf {}", key("ready"));
    ck_assert_double_eq_tol(oldest(), 40, 5);
}

/* A member with a time to come is in no band; it hides neither its own nor the next ones. */
TEST(a_time_to_come_hides_no_age)
{
    ready_since("low", -7, 30);
    ask("ZADD %s %s %s", key("ready"), text("%.6f", now() + 900), PLAIN);
    ck_assert_double_eq_tol(oldest(), 30, 5);
    ready_since("lower", -8, 60);
    ck_assert_double_eq_tol(oldest(), 60, 5);
}
