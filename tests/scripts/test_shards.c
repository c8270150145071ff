/* test_shards.c: what queues with shards rely on: the fence, the modes of push that look for ids,
 * the plan, the list of ids. The queue `q` is the plain one or a shard, depending on whether its
 * key `shards` has counts. */
#include "harness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT "{\"type\":\"t\"}"

static const char *plan(void)
{
    const redisReply *reply = ask("GET %s", key("shards"));

    return reply->type == REDIS_REPLY_STRING ? reply->str : "";
}

static const char *push_in(const char *mode, const char *id)
{
    return flat(run("push", "0", mode, id, "", "0", DOCUMENT, NULL));
}

/* Must be refused with these words, and must have changed nothing. */
static void check_stale(const char *mode, const char *id, const char *words)
{
    uint64_t before = digest();

    ck_assert_str_eq(run_error("push", "60", mode, id, "", "0", DOCUMENT, NULL), words);
    ck_assert_uint_eq(digest(), before);
}

/* ---- the fence */

TEST(an_older_plan_is_refused)
{
    static const char *const modes[] = { "new", "replace", "seek", "seek-replace" };
    static const char *const ids[] = { "other", "ready", "delayed", "reserved", "dead" };

    one_in_each_state();
    fill_each_state();
    ask("ZADD %s 4000000000 ended", key("unique"));
    note("t", "ended", "4000000000");
    ask("SET %s 7", key("shards"));
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
            check_stale(text("%s/6", modes[m]), ids[i], "RESHARD 7");
            check_stale(text("%s/0", modes[m]), ids[i], "RESHARD 7");
        }
        check_stale(text("%s/6", modes[m]), "ended", "RESHARD 7");
    }
    check_sums();
}

TEST(the_same_plan_passes_and_writes_nothing_there)
{
    ask("SET %s 7", key("shards"));
    ask("PEXPIREAT %s 4000000000000", key("shards")); /* a SET would take it away */
    ck_assert_str_eq(push_in("new/7", "a"), "PUSHED");
    ck_assert_str_eq(push_in("new/07", "b"), "PUSHED");
    ck_assert_str_eq(plan(), "7");
    ck_assert_int_eq(ask("PEXPIRETIME %s", key("shards"))->integer, 4000000000000);
    check_sums();
}

TEST(a_newer_plan_raises_the_fence)
{
    static const char *const modes[] = { "new", "replace", "seek", "seek-replace" };

    for (int i = 0; i < 4; i++) {
        push_in(text("%s/%d", modes[i], 8 + i), "a");
        ck_assert_str_eq(plan(), text("%d", 8 + i));
        check_stale(text("new/%d", 7 + i), "b", text("RESHARD %d", 8 + i));
    }
    /* More than nine: by value, not by letter. */
    ck_assert_str_eq(push_in("new/1764000000123", "b"), "PUSHED");
    ck_assert_str_eq(plan(), "1764000000123");
    check_stale("new/11", "c", "RESHARD 1764000000123");
    check_sums();
}

TEST(what_has_no_fence_takes_the_first)
{
    ck_assert_str_eq(push_in("new/0", "a"), "PUSHED"); /* of a queue without a plan: no trace */
    ck_assert_str_eq(plan(), "");
    ck_assert_str_eq(push_in("new/3", "b"), "PUSHED");
    ck_assert_str_eq(plan(), "3");
}

/* Removing a former count asks for no job: only the fence counts. */
TEST(a_push_of_nothing_raises_the_fence)
{
    ck_assert_uint_eq(run("push", "0", "seek/3", NULL)->elements, 0);
    ck_assert_str_eq(plan(), "3");
    ck_assert_int_eq(ask("DBSIZE")->integer, 1);
    ck_assert_str_eq(run_error("push", "0", "seek/2", NULL), "RESHARD 3");
}

TEST(a_plan_is_never_overwritten_by_a_push)
{
    ask("SET %s %s", key("shards"), "7 4 1");
    check_stale("new/0", "a", "RESHARD 7 4 1");
    check_stale("new/6", "a", "RESHARD 7 4 1");
    check_stale("new/8", "a", "RESHARD 7 4 1"); /* Redis has lost the newer one */
    check_stale("seek-replace/1764000000123", "a", "RESHARD 7 4 1");
    ck_assert_str_eq(push_in("seek/7", "a"), "ABSENT");
    ck_assert_str_eq(push_in("new/7", "a"), "PUSHED");
    ck_assert_str_eq(plan(), "7 4 1");
    check_sums();
}

TEST(who_shows_no_plan_is_not_asked)
{
    ask("SET %s %s", key("shards"), "7 4");
    ck_assert_str_eq(push_in("new", "a"), "PUSHED");
    ck_assert_str_eq(push_in("replace", "a"), "REPLACED");
    ck_assert_str_eq(push_in("seek", "a"), "EXISTS ready");
    ck_assert_str_eq(push_in("seek", "b"), "ABSENT");
    ck_assert_str_eq(plan(), "7 4");
    check_sums();
}

/* A call that came through before is answered as it was, whatever the plan is by now. */
TEST(a_remembered_answer_comes_before_the_fence)
{
    uint64_t before;

    ck_assert_str_eq(flat(run("push", "60", "new/7", "a", "", "0", DOCUMENT, NULL)), "PUSHED");
    ask("SET %s 9", key("shards"));
    before = digest();
    ck_assert_str_eq(flat(run("push", "60", "new/7", "a", "", "0", DOCUMENT, NULL)), "PUSHED");
    ck_assert_uint_eq(digest(), before);
    ask("DEL later:{q}:call:c");
    check_stale("new/7", "a", "RESHARD 9");
}

/* A refused call is not remembered, so that it works when repeated under the new plan. */
TEST(a_refusal_is_not_remembered)
{
    ask("SET %s 9", key("shards"));
    check_stale("new/7", "a", "RESHARD 9");
    ck_assert_str_eq(flat(run("push", "60", "new/9", "a", "", "0", DOCUMENT, NULL)), "PUSHED");
}

TEST(junk_in_the_key_is_an_old_plan)
{
    static const char *const junk[] = { "x", "", "-5", "nan" };

    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        ask("SET %s %s", key("shards"), junk[i]);
        ck_assert_str_eq(push_in("new/3", text("j%zu", i)), "PUSHED");
        ck_assert_str_eq(plan(), "3");
    }
}

TEST(a_full_redis_refuses_a_new_fence)
{
    uint64_t before;

    push("a");
    before = digest();
    ask("CONFIG SET maxmemory 1");
    ck_assert_mem_eq(run_error("push", "0", "new/3", "b", "", "0", "{}", NULL), "OOM ", 4);
    ck_assert_mem_eq(run_error("push", "0", "seek/3", "b", "", "0", "{}", NULL), "OOM ", 4);
    ask("CONFIG SET maxmemory 0");
    ck_assert_uint_eq(digest(), before);
}

TEST(bad_modes_are_refused)
{
    static const char *const bad[] = { "seek-new", "new-",    "-new",      "Seek",   "new/x",
                                       "new/1x",   "new/-1",  "new/1.5",   "new/ 1", "new//1",
                                       "new/",     "new5",    "/5",        "5",      "seek replace",
                                       "seek/",    "new/1/2", "new/1 2 3", "new\n" };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *error = run_error("push", "0", bad[i], "a", "", "0", "{}", NULL);

        ck_assert_msg(strncmp(error, "ERR push: ", 10) == 0, "%s: %s", bad[i], error);
    }
    ck_assert_int_eq(ask("DBSIZE")->integer, 0);
}

/* ---- seeking */

TEST(what_is_absent_leaves_only_the_fence)
{
    one_in_each_state();
    uint64_t before = digest();

    ck_assert_str_eq(
        flat(run("push", "0", "seek/3", "x", "", "5/60", DOCUMENT, "y", "+9", "0", DOCUMENT, NULL)),
        "ABSENT ABSENT");
    ck_assert_str_eq(push_in("seek-replace/3", "x"), "ABSENT");
    ck_assert_str_eq(plan(), "3");
    ask("DEL %s", key("shards"));
    ck_assert_uint_eq(digest(), before);
    check_sums();
}

/* With other ids in `unique`, and with one whose time has passed. */
TEST(what_is_absent_is_so_beside_others)
{
    uint64_t before;

    push("a");
    fill_record("a");
    ask("ZADD %s 4000000000 ended 5 past", key("unique"));
    note("t", "ended", "4000000000");
    note("t", "past", "5");
    before = digest();
    ck_assert_str_eq(push_in("seek/0", "past"), "ABSENT");
    ck_assert_str_eq(push_in("seek-replace/0", "x"), "ABSENT");
    ck_assert_uint_eq(digest(), before);
}

TEST(seek_finds_each_state)
{
    static const char *const states[] = { "ready", "delayed", "reserved", "dead" };
    uint64_t before;

    one_in_each_state();
    fill_each_state();
    ask("ZADD %s 4000000000 ended", key("unique"));
    note("t", "ended", "4000000000");
    before = digest();
    for (size_t i = 0; i < 4; i++)
        ck_assert_str_eq(push_in("seek", states[i]), text("EXISTS %s", states[i]));
    ck_assert_str_eq(push_in("seek", "ended"), "EXISTS ended");
    ck_assert_str_eq(push_in("seek-replace", "ended"), "EXISTS ended");
    ck_assert_int_eq(stat_of("duplicate"), 6);
    ck_assert_int_eq(stat_of("pushed"), 4);
    ask("HDEL %s duplicate", key("stats"));
    ck_assert_uint_eq(digest(), before);
    check_sums();
}

TEST(seek_replace_renews_what_waits)
{
    one_in_each_state();
    fill_each_state();
    arg("0");
    arg("seek-replace/3");
    ck_assert_str_eq(
        flat(run("push", "ready", "+50", "0", "{\"new\":1}", "delayed", "", "5", "{\"new\":2}",
                 "reserved", "", "0", "{}", "dead", "", "0", "{}", "x", "", "0", "{}", NULL)),
        "REPLACED REPLACED EXISTS reserved EXISTS dead ABSENT");
    ck_assert_str_eq(members("ready"), "delayed");
    ck_assert_str_eq(members("delayed"), "ready");
    ck_assert_str_eq(field("jobs", "ready"), "{\"new\":1}");
    ck_assert_str_eq(field("jobs", "delayed"), "{\"new\":2}");
    ck_assert_str_eq(field("jobs", "reserved"), DOCUMENT);
    ck_assert_str_eq(field("jobs", "dead"), DOCUMENT);
    ck_assert_str_eq(field("jobs", "x"), "");
    ck_assert_str_eq(noted("a", "delayed"), "");
    ck_assert_str_eq(noted("p", "delayed"), "5");
    ck_assert_str_eq(noted("a", "dead"), "1");
    ck_assert_int_eq(stat_of("replaced"), 2);
    ck_assert_int_eq(stat_of("duplicate"), 2);
    ck_assert_int_eq(stat_of("pushed"), 4);
    check_sums();
    check_wake();
}

/* An answer of seek is repeated, since the caller may have lost it. */
TEST(seek_is_remembered)
{
    ck_assert_str_eq(flat(run("push", "60", "seek/3", "a", "", "0", DOCUMENT, NULL)), "ABSENT");
    push("a");
    ck_assert_str_eq(flat(run("push", "60", "seek/3", "a", "", "0", DOCUMENT, NULL)), "ABSENT");
}

/* ---- the plan */

static uint64_t epoch_of(const char *words)
{
    return strtoull(words, NULL, 10);
}

static const char *reshard(const char *before, const char *counts)
{
    return flat(run("reshard", before, counts, NULL));
}

TEST(a_plan_is_made_and_changed)
{
    double from = now();
    const char *first = reshard("", "4"), *second = reshard(first, "8 4");

    ck_assert_str_eq(strchr(first, ' '), " 4");
    ck_assert_double_ge((double)epoch_of(first), from * 1000 - 1);
    ck_assert_double_le((double)epoch_of(first), now() * 1000);
    ck_assert_uint_eq(strspn(first, "0123456789"), 13); /* spelled out, not 1.76e+12 */
    ck_assert_str_eq(strchr(second, ' '), " 8 4");
    ck_assert_uint_gt(epoch_of(second), epoch_of(first));
    ck_assert_str_eq(plan(), second);
    ck_assert_int_eq(ask("DBSIZE")->integer, 1);
    ck_assert_int_eq(ask("PTTL %s", key("shards"))->integer, -1);
}

TEST(a_plan_that_was_changed_meanwhile_stays)
{
    const char *first = reshard("", "4"), *second = reshard(first, "8 4");
    const char *const before[] = {
        "", "5", first, "8 4", text("%s ", second), text("%" PRIu64, epoch_of(second))
    };
    uint64_t bytes = digest();

    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        ck_assert_str_eq(reshard(before[i], "3 8 4"), second);
        ck_assert_uint_eq(digest(), bytes);
    }
    ck_assert_str_eq(strchr(reshard(second, "3 8 4"), ' '), " 3 8 4");
}

/* Even within a millisecond, and if Redis's clock has gone back, as after a failover. */
TEST(an_epoch_always_grows)
{
    const char *last = reshard("", "2");

    for (int i = 0; i < 200; i++) {
        const char *next = reshard(last, i % 2 ? "2" : "4 2");

        ck_assert_uint_gt(epoch_of(next), epoch_of(last));
        last = next;
    }
    ask("SET %s %s", key("shards"), "9764000000123 4");
    ck_assert_str_eq(reshard("9764000000123 4", "8 4"), "9764000000124 8 4");
    ask("SET %s %s", key("shards"), "9764000000500"); /* a fence in the plain queue */
    ck_assert_str_eq(reshard("9764000000500", "1"), "9764000000501 1");
}

TEST(counts_have_limits)
{
    static const char *const bad[] = {
        "",    " ",   "0",   "33",  "4 0", "4 33",  "-4",    "x",      "4 x",
        "1.5", "4.0", "1e1", "0x4", "4,8", "inf 4", "4 nan", "4 8 -1", "1 2 3 4 5 6 7 8 9"
    };
    uint64_t before;

    ask("SET %s %s", key("shards"), "7 4");
    before = digest();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *error = run_error("reshard", "7 4", bad[i], NULL);

        ck_assert_msg(strncmp(error, "ERR reshard: ", 13) == 0, "%s: %s", bad[i], error);
        ck_assert_uint_eq(digest(), before);
    }
    ck_assert_str_eq(strchr(reshard("7 4", "1"), ' '), " 1");
    ck_assert_str_eq(strchr(reshard(plan(), "32 1 2 3 4 5 6 7"), ' '), " 32 1 2 3 4 5 6 7");
}

/* What reshard writes is what fences compare with. */
TEST(a_change_fences_the_plain_queue)
{
    const char *first = reshard("", "1"), *second;
    const char *mode = text("new/%" PRIu64, epoch_of(first));

    ck_assert_str_eq(push_in(mode, "a"), "PUSHED");
    second = reshard(first, "4 1");
    check_stale(mode, "b", text("RESHARD %s", second));
    check_stale("new/0", "b", text("RESHARD %s", second));
    ck_assert_str_eq(push_in(text("seek/%" PRIu64, epoch_of(second)), "a"), "EXISTS ready");
}

/* ---- ids */

/* Takes all pages; returns how many. seen[n] counts the id `n` in decimals. */
static int list_ids(const char *of, int *seen, int count)
{
    const char *cursor = "0";
    int pages = 0;

    do {
        const redisReply *page = run("ids", of, cursor, NULL);

        for (size_t i = 1; i < page->elements; i++) {
            char *end;
            long n = strtol(page->element[i]->str, &end, 10);

            ck_assert_msg(!*end && n >= 0 && n < count, "%s", page->element[i]->str);
            seen[n]++;
        }
        cursor = page->element[0]->str;
        pages++;
    } while (strcmp(cursor, "0") != 0);
    return pages;
}

#define MANY 2000

static void check_ids(const char *of, int most_pages)
{
    int *seen = harness_keep(calloc(MANY, sizeof *seen));
    int pages = list_ids(of, seen, MANY);

    ck_assert_int_gt(pages, 1);
    ck_assert_int_le(pages, most_pages);
    for (int i = 0; i < MANY; i++)
        ck_assert_msg(seen[i] == 1, "%d was in %d pages", i, seen[i]);
}

TEST(all_ids_are_listed)
{
    uint64_t before;

    for (int batch = 0; batch < MANY / 500; batch++) {
        arg("0");
        arg("new");
        for (int i = 0; i < 500; i++) {
            argf("%d", batch * 500 + i);
            arg(i % 2 ? "" : "+100");
            arg("0/60");
            arg(DOCUMENT);
        }
        run("push", NULL);
    }
    reserve('t', 100);
    for (int i = 0; i < MANY; i++)
        ask("ZADD %s 4000000000 %d", key("unique"), i);
    before = digest();
    check_ids("jobs", MANY / 25 + 1);
    check_ids("unique", MANY / 25 + 1);
    ck_assert_uint_eq(digest(), before);
}

TEST(few_ids_are_one_page)
{
    ck_assert_str_eq(flat(run("ids", "jobs", "0", NULL)), "0");
    ck_assert_str_eq(flat(run("ids", "unique", "0", NULL)), "0");
    push("a");
    ask("ZADD %s 4000000000 ended", key("unique"));
    note("t", "ended", "4000000000");
    ck_assert_str_eq(flat(run("ids", "jobs", "0", NULL)), "0 a");
    ck_assert_str_eq(flat(run("ids", "unique", "0", NULL)), "0 ended");
}

TEST(wrong_lists_are_refused)
{
    static const char *const bad[][2] = { { "ready", "0" }, { "", "0" },      { "jobs", "" },
                                          { "jobs", "x" },  { "jobs", "-1" }, { "jobs", "1.5" },
                                          { "jobs", "0 " }, { "JOBS", "0" } };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_mem_eq(run_error("ids", bad[i][0], bad[i][1], NULL), "ERR ids: ", 9);
}
