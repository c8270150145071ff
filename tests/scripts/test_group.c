/* test_group.c: groups: what comes next if a queue is shared. What is expected follows from
 * doc/protocol.md, "Groups". */
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR "\"kind\":\"retry\",\"text\":\"no\",\"host\":\"h\"}"

/* Adds a job to the next push. */
static void add(const char *id, const char *when, const char *priority)
{
    arg(id);
    arg(when);
    arg(priority);
    arg("{\"type\":\"t\"}");
}

static void begin(const char *mode)
{
    arg("0");
    arg(mode);
}

/* Pushes `count` jobs of a group, PREFIX0 and so on; group: "@NAME" or "". */
static void push_many(const char *prefix, const char *group, int count)
{
    for (int i = 0; i < count;) {
        begin("new");
        for (int n = 0; n < 500 && i < count; n++, i++)
            add(text("%s%d", prefix, i), "", text("0%s", group));
        run("push", NULL);
        harness_free();
    }
}

static void push_one(const char *id, const char *priority)
{
    begin("new");
    add(id, "", priority);
    ck_assert_str_eq(flat(run("push", NULL)), "PUSHED");
}

/* Hands out the next job, under a token of its own; returns its id, "" if there is none. */
static const char *next(void)
{
    static int calls;
    const char *token = text("%016d", ++calls);
    const redisReply *reply = run("reserve", token, "30", "1", "262144", "0", NULL);

    return jobs_in(reply) ? told(reply, 0, ID) : "";
}

/* Hands out jobs until one begins so; returns how many came before it. */
static int before(const char *prefix)
{
    for (int i = 0; i < 5000; i++) {
        const char *id = next();

        ck_assert_str_ne(id, "");
        if (strncmp(id, prefix, strlen(prefix)) == 0)
            return i;
    }
    return 5000;
}

/* The next ids, with spaces between. */
static const char *row(int count)
{
    char *all = harness_keep(calloc(1, 4096));

    for (int i = 0; i < count; i++)
        snprintf(all + strlen(all), 4096 - strlen(all), "%s%s", i ? " " : "", next());
    return all;
}

/* How many of the next `count` begin so. */
static int share(const char *prefix, int count)
{
    int found = 0;

    for (int i = 0; i < count; i++) {
        found += strncmp(next(), prefix, strlen(prefix)) == 0;
        harness_free();
    }
    return found;
}

TEST(groups_take_turns)
{
    push_many("a", "@A", 3);
    push_many("b", "@B", 3);
    ck_assert_str_eq(row(7), "a0 b0 a1 b1 a2 b2 ");
    check_sums();
}

TEST(a_quiet_group_waits_for_one_job_of_each)
{
    push_many("a", "@A", 10000);
    ck_assert_int_eq(share("a", 100), 100);
    for (int i = 0; i < 20; i++) {
        push_one(text("b%d", i), "0@B");
        ck_assert_int_le(before("b"), 1);
        ck_assert_int_eq(share("a", 5), 5);
    }
    push_many("c", "@C", 2000);
    for (int i = 20; i < 40; i++) {
        push_one(text("b%d", i), "0@B");
        ck_assert_int_le(before("b"), 3);
    }
    ck_assert_int_eq(share("c", 100), 50);
    check_sums();
}

TEST(shares_are_as_the_weights)
{
    int served[3] = { 0 };

    ask("HSET %s A 4 B 1 C 0.5", key("groups"));
    push_many("a", "@A", 1500);
    push_many("b", "@B", 1500);
    push_many("c", "@C", 1500);
    for (int i = 0; i < 1000; i++) {
        served[next()[0] - 'a']++;
        harness_free();
    }
    ck_assert_int_le(abs(served[0] - 727), 36);
    ck_assert_int_le(abs(served[1] - 182), 9);
    ck_assert_int_le(abs(served[2] - 91), 5);
}

TEST(jobs_without_a_group_are_one)
{
    push_many("n", "", 300);
    push_many("a", "@A", 300);
    ck_assert_int_le(abs(share("n", 200) - 100), 10);
    push_many("m", "", 300);
    ck_assert_int_le(abs(share("a", 100) - 50), 5);
    ck_assert_str_eq(noted("q", "m1") + strlen("1764000000.123456"), " ");
}

TEST(a_backlog_without_groups_is_shared_with)
{
    push_many("n", "", 3000);
    push_one("a", "0@A");
    ck_assert_int_le(before("a"), 2);
    push_many("b", "@B", 1000);
    ck_assert_int_le(abs(share("b", 1000) - 500), 25);
    check_sums();
}

TEST(push_now_leaves_it_to_push)
{
    push_many("a", "@A", 3);
    ck_assert_str_eq(flat(run("push_now", "0", "n", "{}", "12345", NULL)), "ASK");
    push_one("n", "0");
    ck_assert_str_eq(row(2), "a0 n");
    next();
    next();
    ck_assert_str_eq(next(), "");
    ck_assert_str_eq(flat(run("push_now", "0", "m", "{}", "12346", NULL)), "PUSHED");
}

TEST(each_priority_for_itself)
{
    push_many("a", "@A", 100);
    push_one("low", "-1@B");
    push_one("high", "1@A");
    push_one("higher", "2@A");
    ck_assert_str_eq(row(2), "higher high");
    ck_assert_int_eq(share("a", 100), 100);
    ck_assert_str_eq(next(), "low");
    ck_assert_int_eq(size_of("fair"), 0);
}

TEST(order_in_a_group_is_as_pushed)
{
    for (int i = 0; i < 30; i++) {
        push_one(text("a%d", i), i % 2 ? "0@A" : "0");
        push_one(text("b%d", i), "0@B");
    }
    for (int i = 1, at[4] = { 0, 1, 0, 0 }; i <= 60; i++) {
        const char *id = next();
        int n = atoi(id + 1), *mine = &at[id[0] == 'b' ? 2 : n % 2];

        ck_assert_int_eq(n, *mine);
        *mine += id[0] == 'b' ? 1 : 2;
    }
}

/* Reserves under one letter, which may be done once for each letter. */
TEST(a_retry_asks_for_a_place_and_a_return_keeps_it)
{
    push_many("a", "@A", 100);
    push_many("b", "@B", 100);
    reserve('t', 4); /* a0 b0 a1 b1 */
    run("return", mine("b0"), "0", "held", NULL);
    run("release", mine("a0"), "0", "ran", ERROR, NULL);
    check_sums();
    ck_assert_str_eq(row(3), "b0 a2 b2");
    ck_assert_int_eq(before("a0"), 97 + 97); /* behind all of its group */
    ck_assert_double_eq_tol(atof(noted("q", "a0")), now(), 60);
}

TEST(lapse_kick_and_migrate_ask_for_a_place)
{
    push_many("a", "@A", 10);
    reserve('t', 5);
    make_due("reserved");
    ck_assert_int_eq(lapse(ERROR), 5);
    ck_assert_str_eq(row(6), "a5 a6 a7 a8 a9 a0");
    begin("new");
    add("d", "+100", "0@A");
    add("1", "+100", "0@B");
    run("push", NULL);
    run("kick", "d", NULL);
    make_due("delayed");
    run("migrate", "500", NULL);
    ck_assert_str_eq(row(6), "1 a1 a2 a3 a4 d");
    check_sums();
}

TEST(a_group_that_has_nothing_left_is_forgotten)
{
    push_many("a", "@A", 10);
    push_one("b", "0@B");
    ck_assert_str_eq(field("fair", "0 A") + strlen("1764000000.123456"), " 10");
    ck_assert_str_eq(field("fair", "0 B") + strlen("1764000000.123456"), " 1");
    row(2);
    ck_assert_str_eq(field("fair", "0 B"), "");
    ck_assert_str_eq(field("fair", "0 A") + strlen("1764000000.123456"), " 9");
    row(9);
    ck_assert_int_eq(size_of("fair"), 0);
    ck_assert_int_eq(size_of("records"), 11);
}

TEST(what_is_dropped_does_not_count)
{
    push_many("a", "@A", 10);
    push_many("b", "@B", 10);
    for (int i = 0; i < 9; i++)
        arg(text("a%d", i));
    run("cancel", NULL);
    ck_assert_str_eq(field("fair", "0 A") + strlen("1764000000.123456"), " 1");
    run("act", "cancel", "ready", "", "a9", "", NULL);
    ck_assert_str_eq(field("fair", "0 A"), "");
    push_one("c", "0@A"); /* its group is not behind because of what was cancelled */
    ck_assert_int_le(before("c"), 1);
    begin("replace");
    add("b5", "", "0@C");
    ck_assert_str_eq(flat(run("push", NULL)), "REPLACED");
    ck_assert_str_eq(field("fair", "0 B") + strlen("1764000000.123456"), " 8");
    ck_assert_str_eq(field("fair", "0 C") + strlen("1764000000.123456"), " 1");
    run("purge", "ready", "500", NULL);
    ck_assert_int_eq(size_of("fair"), 0);
    check_sums();
}

TEST(ten_thousand_groups_of_one_job)
{
    for (int i = 0; i < 10000; i++) {
        if (i % 500 == 0)
            begin("new");
        add(text("j%d", i), "", text("0@G%d", i));
        if (i % 500 == 499) {
            run("push", NULL);
            harness_free();
        }
    }
    ck_assert_int_eq(share("j", 9999), 9999);
    ck_assert_int_eq(size_of("fair"), 2);
    ck_assert_int_eq(share("j", 1), 1);
    ck_assert_int_eq(size_of("fair"), 0);
    check_sums();
}

/* How many jobs `fair` counts. */
static long long counted_in_fair(void)
{
    return ask("EVAL %s 1 %s",
               "local n = 0 "
               "for _, text in ipairs(redis.call('HVALS', KEYS[1])) do "
               "n = n + (tonumber(string.match(text, ' (%d+)$')) or 0) end "
               "return n",
               key("fair"))
        ->integer;
}

/* Two hundred groups in up to 256 fields: some of them share one. */
TEST(groups_too_many_share_fields)
{
    ask("HSET %s full 1", key("fair"));
    for (int i = 0; i < 200; i++)
        push_one(text("j%d", i), text("0@g%d", i));
    ck_assert_int_lt(size_of("fair"), 200);
    ck_assert_int_eq(counted_in_fair(), 200);
    ck_assert_int_eq((int)jobs_in(reserve('t', 120)), 120);
    ck_assert_int_eq(counted_in_fair(), 80);
    push_many("k", "@g1", 20);
    ck_assert_int_eq(counted_in_fair(), 100);
    ck_assert_int_eq((int)jobs_in(reserve('u', 99)), 99);
    ck_assert_int_eq(counted_in_fair(), 1);
    ck_assert_int_eq((int)jobs_in(reserve('v', 99)), 1);
    ck_assert_int_eq(size_of("fair"), 0);
    check_sums();
}

/* Tags are far behind the clock if a queue is never empty. */
TEST(a_plain_member_is_not_left_behind)
{
    push_many("a", "@A", 1000);
    ask("HSET %s 0 %f", key("fair"), now() - 100000);
    ask("HSET %s %s %s", key("fair"), "0 A", text("%f 1000", now() - 99000));
    for (int i = 0; i < 1000; i++)
        ask("ZADD %s %f a%d", key("ready"), now() - 99000 + i / 1000.0, i);
    ask("ZADD %s %f {\"type\":\"t\"}", key("ready"), now() - 1);
    run("migrate", "500", NULL);
    run("migrate", "500", NULL);
    ck_assert_int_le(
        before(text("%s", flat(ask("EVAL %s 0", "return "
                                                "redis.sha1hex('{\"type\":\"t\"}')")))),
        1);
    check_sums();
}

TEST(a_plain_member_that_is_the_last_leaves_nothing)
{
    push_one("a", "0@A");
    ask("ZADD %s %f {\"type\":\"t\"}", key("ready"), now() + 5);
    ck_assert_str_eq(next(), "a");
    ck_assert_str_ne(next(), "");
    run("migrate", "500", NULL);
    ck_assert_int_eq(size_of("fair"), 0);
    ck_assert_int_eq(size_of("ready"), 0);
    check_sums();
}

/* All was done meanwhile, so a place ahead of the clock says nothing any more. */
TEST(a_place_of_another_time_is_at_the_front)
{
    ask("HSET %s A 0.001", key("groups"));
    push_many("a", "@A", 100); /* tags are a second apart */
    reserve('t', 100);
    push_many("b", "@B", 10);
    run("return", mine("a99"), "0", "held", NULL);
    ck_assert_int_le(before("a99"), 1);
    check_sums();
}

/* A group far behind stays within its priority. */
TEST(a_backlog_does_not_reach_another_priority)
{
    push_one("v", "0@A");
    ask("HSET %s A 0.001", key("groups"));
    ask("HSET %s %s %s", key("fair"), "0 A", text("%f 1", now() + 899999.5));
    push_many("a", "@A", 5);
    push_one("low", "-1@A");
    ck_assert_str_eq(row(7), "v a0 a1 a2 a3 a4 low");
    check_sums();
}

TEST(a_queue_without_groups_has_no_more_than_before)
{
    push_many("n", "", 10);
    push_one("p", "5");
    ck_assert_str_eq(field("stats", "groups"), "");
    ck_assert_str_eq(noted("q", "p"), "");
    ck_assert_int_eq(size_of("fair"), 0);
    ck_assert_int_eq(size_of("records"), 1);
    ck_assert_str_eq(row(2), "p n0");
}

TEST(the_group_stays_with_the_job)
{
    begin("new");
    add("a", "+100", "3/60@A@B");
    run("push", NULL);
    ck_assert_str_eq(noted("q", "a"), "0 A@B");
    ck_assert_str_eq(noted("p", "a"), "3");
    ck_assert_str_eq(noted("u", "a"), "60.000000");
    run("kick", "a", NULL);
    ck_assert_str_eq(noted("q", "a") + strlen("1764000000.123456"), " A@B");
    ck_assert_str_eq(field("fair", "3 A@B") + strlen("1764000000.123456"), " 1");
}

TEST(what_is_no_group)
{
    static const char *const wrong[] = { "0@", "0@a b", "0@{a}",
                                         "0@"
                                         "12345678901234567890123456789012345678901234567890"
                                         "123456789012345" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        begin("new");
        add("a", "", wrong[i]);
        ck_assert_ptr_nonnull(strstr(run_error("push", NULL), "a group is 1 to 64 printable"));
    }
}

/* ---- a random walk: `fair` counts what is ready, and no tag in ready is beyond its group's last
 */

#define WALK_STEPS 1500

static uint64_t seed = 20261125;

static int below(int limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 33) % (uint64_t)limit);
}

/* Looks at each ready job: returns how many of them `fair` knows. */
static void compare_groups(void)
{
    const redisReply *ready = ask("ZRANGE %s 0 -1 WITHSCORES", key("ready"));
    const redisReply *fair = ask("HGETALL %s", key("fair"));
    long long counted = 0, tagged = 0;

    for (size_t i = 0; i < ready->elements; i += 2) {
        const char *id = ready->element[i]->str, *share = noted("q", id);
        const char *group = strchr(share, ' '), *last;
        int priority = atoi(noted("p", id));

        if (!group)
            continue;
        tagged++;
        ck_assert_double_ge(atof(share), 1e9);
        last = field("fair", text("%d%s", priority, group));
        ck_assert_msg(*last, "%s is ready, and fair does not know its group%s", id, group);
        ck_assert_double_ge(atof(last) - priority * 1e6,
                            strtod(ready->element[i + 1]->str, NULL) - 1e-5);
    }
    for (size_t i = 0; i < fair->elements; i += 2) {
        const char *count = strchr(fair->element[i + 1]->str, ' ');

        if (!strchr(fair->element[i]->str, ' '))
            continue;
        ck_assert_int_gt(atoll(count), 0);
        counted += atoll(count);
    }
    ck_assert_msg(counted == tagged, "fair counts %lld jobs, and %lld are ready: %s", counted,
                  tagged, flat(fair));
}

/* A job of `held` under a token, or NULL. */
static const char *any_held(const char **token)
{
    const redisReply *tokens = ask("ZRANGE %s 0 -1", key("reserved")), *ids;

    if (!tokens->elements)
        return NULL;
    *token = tokens->element[below((int)tokens->elements)]->str;
    ids = ask("ZRANGE %s 0 -1", held_by(*token));
    return ids->element[below((int)ids->elements)]->str;
}

static void walk_push(void)
{
    static const char *const groups[] = { "", "", "@A", "@B", "@B", "@C", "@D/4" };
    static const char *const whens[] = { "", "", "", "+0.000001", "+1000" };

    begin(below(3) ? "new" : "replace");
    for (int i = below(4); i >= 0; i--)
        add(text("j%d", below(60)), whens[below(5)],
            text("%d%s", below(4) ? 0 : below(5) - 2, groups[below(7)]));
    run("push", NULL);
}

static void walk_settle(void)
{
    const char *token, *id = any_held(&token), *member;

    if (!id)
        return;
    member = text("%s:%s", token, id);
    switch (below(4)) {
    case 0:
        run("release", member, below(2) ? "0" : "0.000001", "ran", ERROR, NULL);
        break;
    case 1:
        run("bury", member, "ran", ERROR, NULL);
        break;
    case 2:
        run("ack", member, NULL);
        break;
    default:
        run("return", member, below(3) ? "0" : "0.000001", "held", NULL);
    }
}

static void walk_move(void)
{
    const char *id = text("j%d", below(60));

    switch (below(7)) {
    case 0:
        run("kick", id, NULL);
        break;
    case 1:
        run("cancel", id, NULL);
        break;
    case 2:
        run("act", "cancel", "ready", "", id, "", NULL);
        break;
    case 3:
        run("act", "kick", "dead", "", id, "", NULL);
        break;
    case 4:
        run("act", "bury", "ready", ERROR, id, "", NULL);
        break;
    case 5:
        run("migrate", "5", NULL);
        break;
    default:
        if (below(10) == 0)
            run("purge", "ready", text("%d", 1 + below(20)), NULL);
        else if (below(10) == 0)
            ask("HSET %s %s %d", key("groups"), "B", 1 + below(5));
    }
}

TEST(what_fair_counts_is_ready)
{
    const char *chosen = getenv("LATER_SEED");
    static int calls;

    seed = chosen ? strtoull(chosen, NULL, 10) : seed;
    for (int i = 0; i < WALK_STEPS; i++) {
        int pick = below(10);

        if (pick < 3)
            walk_push();
        else if (pick < 6)
            walk_settle();
        else if (pick < 8)
            walk_move();
        else
            run("reserve", text("%015dx", ++calls), "30", text("%d", 1 + below(below(9) ? 3 : 40)),
                "262144", below(2) ? "0" : "99999999999", NULL);
        compare_groups();
        if (i % 50 == 0)
            check_sums();
        harness_free();
    }
}

/* All that `fair` has of three priorities and three groups. */
static const char *fair_has(void)
{
    static const char *const priorities[] = { "-1", "0", "5" }, *const groups[] = { "A", "B", "" };
    const char *all = text("%lld", size_of("fair"));

    for (int p = 0; p < 3; p++) {
        all = text("%s; %s", all, field("fair", priorities[p]));
        for (int g = 0; g < 3; g++)
            all = text("%s, %s", all, field("fair", text("%s %s", priorities[p], groups[g])));
    }
    return all;
}

/* A reserve of one job has a short way. With a budget of one byte a batch is one job, too. */
TEST(one_is_counted_as_a_batch_is)
{
    static const char *const keys[] = { "ready", "fair", "groups", "jobs", "records", "stats" };
    static const char *const ranks[] = { "0@A", "-1@B", "0", "5@A", "0@B" };

    push_many("x", "", 5); /* before there were any groups */
    ask("HSET %s A 3", key("groups"));
    for (int i = 0; i < 40; i++)
        push_one(text("j%d", i), ranks[i * 7 % 11 % 5]);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ask("COPY %s later:{r}:%s", key(keys[i]), keys[i]);
    for (int i = 0; i < 45; i++) {
        char token = (char)('a' + i % 26);
        const char *first, *fair;

        on_queue("q");
        first = told(reserve_bytes(token, 2, 1), 0, ID);
        fair = fair_has();
        run("ack", member(token, first), NULL);
        on_queue("r");
        ck_assert_str_eq(told(reserve(token, 1), 0, ID), first);
        ck_assert_str_eq(fair_has(), fair);
        ck_assert_int_eq(size_of("fair") > 0, i < 44);
        run("ack", member(token, first), NULL);
        check_sums();
    }
}
