/* test_shards.c: plans, names of shards, an id's places. The CRC16/XMODEM values here come from
 * another program, bit by bit, and "123456789" from the Redis Cluster specification. */
#include "queue/shards.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A plan as "EPOCH COUNT FORMER…". */
static const char *spelled(const struct later_plan *plan)
{
    static char text[200];
    int len = snprintf(text, sizeof text, "%" PRIu64 " %" PRIu32, plan->epoch, plan->count);

    for (uint32_t i = 0; i < plan->formers; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, " %" PRIu32, plan->former[i]);
    return text;
}

static void check_plan(const char *text, const char *expected)
{
    struct later_plan plan = later_plan_parse(text);

    ck_assert_msg(strcmp(spelled(&plan), expected) == 0, "\"%s\" is %s", text, spelled(&plan));
}

/* ---- plans */

CASE("plans", NULL, NULL);

TEST(test_parse)
{
    check_plan("1764000000123 8 1", "1764000000123 8 1");
    check_plan("5 4", "5 4");
    check_plan("5 1", "5 1");
    check_plan("5 32 31 30 29 28 27 26 25", "5 32 31 30 29 28 27 26 25");
    check_plan("7", "7 1"); /* a shard's fence */
    check_plan("", "0 1");
}

TEST(test_parse_garbage)
{
    static const char *const garbage[] = { "x", "x 4", "nan 4 8", "{}", "\n", "/", "four" };

    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
        check_plan(garbage[i], "0 1");
    check_plan("5 x", "5 1");
    check_plan("5 4x 8", "5 4");
    check_plan("5 4 x", "5 4");
    check_plan("5\t4", "5 1");
    check_plan("5 ", "5 1");
    check_plan("5 4 ", "5 4");
    check_plan("5 4 8 ", "5 4 8");
}

TEST(test_parse_out_of_range)
{
    check_plan("5 0", "5 1");
    check_plan("5 33", "5 1");
    check_plan("5 -3", "5 1");
    check_plan("5 99999999999999999999999 8", "5 8");
    check_plan("5 4294967300", "5 1"); /* 2^32 + 4 */
    check_plan("5 4 0 33 8", "5 4 8");
    check_plan("5 4 1", "5 4 1");
}

TEST(test_parse_duplicates)
{
    check_plan("5 4 4", "5 4");
    check_plan("5 4 8 8 4 3 8", "5 4 8 3");
    check_plan("5 1 2 3 4 5 6 7 8 9 10", "5 1 2 3 4 5 6 7 8"); /* eight in all */
}

static void check_change(const char *from, uint32_t count, const char *expected)
{
    struct later_plan plan = later_plan_parse(from);
    char text[LATER_PLAN_SIZE];

    ck_assert(later_plan_change(&plan, count, text));
    ck_assert_msg(strcmp(text, expected) == 0, "%s to %u: %s", from, (unsigned)count, text);
}

TEST(test_change)
{
    check_change("", 4, "4 1");
    check_change("5 4", 8, "8 4");
    check_change("6 8 4", 3, "3 8 4");
    check_change("7 3 8 4", 4, "4 3 8"); /* it is no former one any more */
    check_change("8 4 3 8", 1, "1 4 3 8");
    check_change("5 4 8", 4, "4 8");
    check_change("5 32 1", 32, "32 1");
}

TEST(test_change_full)
{
    struct later_plan plan = later_plan_parse("5 8 7 6 5 4 3 2 1");
    char text[LATER_PLAN_SIZE];

    ck_assert_uint_eq(plan.formers, LATER_COUNTS_MAX - 1);
    ck_assert(!later_plan_change(&plan, 9, text));
    check_change("5 8 7 6 5 4 3 2 1", 3, "3 8 7 6 5 4 2 1");
    check_change("5 8 7 6 5 4 3 2 1", 8, "8 7 6 5 4 3 2 1");
    check_change("5 25 26 27 28 29 30 31", 32, "32 25 26 27 28 29 30 31");
}

/* As a plan lives: what reshard would write is read again. */
TEST(test_change_and_back)
{
    static const uint32_t counts[] = { 8, 3, 4 };
    struct later_plan plan = later_plan_parse("5 4");
    char text[LATER_PLAN_SIZE], written[LATER_PLAN_SIZE + 3];

    for (size_t i = 0; i < 3; i++) {
        ck_assert(later_plan_change(&plan, counts[i], text));
        snprintf(written, sizeof written, "6 %s", text);
        plan = later_plan_parse(written);
    }
    ck_assert_str_eq(spelled(&plan), "6 4 3 8");
}

static void check_drop(const char *from, const char *expected)
{
    struct later_plan plan = later_plan_parse(from);
    char text[LATER_PLAN_SIZE];

    later_plan_drop(&plan, text);
    ck_assert_str_eq(text, expected);
}

TEST(test_drop)
{
    check_drop("5 8 4 1", "8 4");
    check_drop("5 8 4", "8");
    check_drop("5 8", "8");
    check_drop("", "1");
    check_drop("5 8 7 6 5 4 3 2 1", "8 7 6 5 4 3 2");
}

static uint32_t span_of(const char *text)
{
    struct later_plan plan = later_plan_parse(text);

    return later_plan_span(&plan);
}

TEST(test_span)
{
    ck_assert_uint_eq(later_plan_span(&(struct later_plan){ .epoch = 0 }), 1);
    ck_assert_uint_eq(span_of(""), 1);
    ck_assert_uint_eq(span_of("5 4"), 4);
    ck_assert_uint_eq(span_of("5 3 8 4"), 8);
    ck_assert_uint_eq(span_of("5 8 3 4"), 8);
    ck_assert_uint_eq(span_of("5 1 2 32"), 32);
}

/* ---- an id's way */

static void check_shard(const char *id, uint32_t count, const char *expected)
{
    later_queue_name name;

    later_shard_of(name, "q", count, id);
    ck_assert_msg(strcmp(name, expected) == 0, "%s of %u: %s", id, (unsigned)count, name);
}

CASE("ways", NULL, NULL);

TEST(test_shard_of)
{
    check_shard("123456789", 0, "q"); /* 0x31C3 = 12739 */
    check_shard("123456789", 1, "q");
    check_shard("123456789", 2, "q/1");
    check_shard("123456789", 3, "q/1");
    check_shard("123456789", 4, "q/3");
    check_shard("123456789", 8, "q/3");
    check_shard("123456789", 10, "q/9");
    check_shard("123456789", 32, "q/3");
    check_shard("job-1", 4, "q/1");
    check_shard("job-1", 31, "q/22");
    check_shard("a", 32, "q/7");
    check_shard("{tag}x", 32, "q/25"); /* the whole id, whatever a Cluster makes of braces */
}

/* Its way, with a space between. */
static void check_route(const char *plan_text, const char *id, const char *expected)
{
    struct later_plan plan = later_plan_parse(plan_text);
    later_queue_name route[LATER_COUNTS_MAX];
    size_t count = later_plan_route(&plan, "q", id, route);
    char text[LATER_COUNTS_MAX * sizeof(later_queue_name)] = "";

    for (size_t i = 0; i < count; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, route[i]);
    }
    ck_assert_msg(strcmp(text, expected) == 0, "\"%s\": %s", plan_text, text);
}

/* 12739 mod 2 … 8: 1 1 3 4 1 6 3. */
TEST(test_route)
{
    check_route("", "123456789", "q");
    check_route("5 1", "123456789", "q");
    check_route("5 4", "123456789", "q/3");
    check_route("5 5 4", "123456789", "q/3 q/4");
    check_route("5 4 1", "123456789", "q q/3");
    check_route("5 1 4", "123456789", "q/3 q");
    check_route("5 8 4", "123456789", "q/3");       /* the same place */
    check_route("5 5 4 8", "123456789", "q/3 q/4"); /* asked once */
    check_route("5 4 2 3 6 5 8", "123456789", "q/1 q/4 q/3");
    check_route("5 2 4 3 6 5 8 1", "123456789", "q/3 q/4 q q/1");
}

TEST(test_route_of_any_id)
{
    struct later_plan plan = later_plan_parse("5 11 1 2 3 5 7 13 31");

    for (int n = 0; n < 1000; n++) {
        later_queue_name route[LATER_COUNTS_MAX], last;
        char id[16];
        size_t count;

        snprintf(id, sizeof id, "id-%d", n);
        count = later_plan_route(&plan, "q", id, route);
        ck_assert_uint_ge(count, 1);
        ck_assert_uint_le(count, LATER_COUNTS_MAX);
        later_shard_of(last, "q", 11, id);
        ck_assert_str_eq(route[count - 1], last);
        for (size_t i = 0; i < count; i++) {
            for (size_t k = 0; k < i; k++)
                ck_assert_str_ne(route[i], route[k]);
        }
    }
}

/* ---- names */

CASE("names", NULL, NULL);

TEST(test_all)
{
    later_queue_name names[LATER_WHOLE_MAX];
    char expected[16];

    ck_assert_uint_eq(later_shards_all("mail", 0, names), 1);
    ck_assert_uint_eq(later_shards_all("mail", 1, names), 1);
    ck_assert_str_eq(names[0], "mail");
    ck_assert_uint_eq(later_shards_all("mail", 2, names), 3);
    ck_assert_str_eq(names[1], "mail/0");
    ck_assert_str_eq(names[2], "mail/1");
    ck_assert_uint_eq(later_shards_all("mail", LATER_SHARDS_MAX, names), LATER_WHOLE_MAX);
    ck_assert_str_eq(names[0], "mail");
    for (int i = 0; i < LATER_SHARDS_MAX; i++) {
        snprintf(expected, sizeof expected, "mail/%d", i);
        ck_assert_str_eq(names[1 + i], expected);
        ck_assert(later_key_shard_valid(names[1 + i]));
    }
}

/* 61 characters, a slash, two digits: as long as a queue's name may be. */
TEST(test_longest_name)
{
    char queue[LATER_SHARDED_MAX + 1], expected[LATER_QUEUE_MAX + 1], whole[LATER_QUEUE_MAX + 1];
    later_queue_name names[LATER_WHOLE_MAX];

    memset(queue, 'q', LATER_SHARDED_MAX);
    queue[LATER_SHARDED_MAX] = '\0';
    ck_assert_uint_eq(later_shards_all(queue, LATER_SHARDS_MAX, names), LATER_WHOLE_MAX);
    snprintf(expected, sizeof expected, "%s/31", queue);
    ck_assert_uint_eq(strlen(expected), 64);
    ck_assert_str_eq(names[LATER_SHARDS_MAX], expected);
    ck_assert(later_key_shard_valid(expected));
    later_shard_whole(whole, expected);
    ck_assert_str_eq(whole, queue);
}

TEST(test_whole)
{
    static const char *const rows[][2] = {
        { "mail", "mail" },
        { "mail/3", "mail" },
        { "a/31", "a" },
        { "m.a-i_l/0", "m.a-i_l" },
    };
    later_queue_name whole;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        later_shard_whole(whole, rows[i][0]);
        ck_assert_str_eq(whole, rows[i][1]);
    }
}

TEST(test_stale)
{
    const char *words = "untouched";

    ck_assert(!later_shards_stale("", &words));
    ck_assert(!later_shards_stale("ERR RESHARD 5", &words));
    ck_assert(!later_shards_stale("RESHARDING 5", &words));
    ck_assert_str_eq(words, "untouched");
    ck_assert(later_shards_stale("RESHARD 5 4 1", &words));
    ck_assert_str_eq(words, "5 4 1");
}
