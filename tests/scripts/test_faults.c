/* test_faults.c: what a script does if something is wrong: no memory, keys of other types, junk in
 * hashes, no script, wrong numbers of keys and arguments. */
#include "tour.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a full Redis */

static const char *picture_after(const char *script, bool full)
{
    tour_crowd();
    tour_arguments(script);
    if (full)
        ask("CONFIG SET maxmemory 1");
    run(script, NULL);
    ask("CONFIG SET maxmemory 0");
    return tour_picture();
}

TEST(a_full_redis_refuses_push_alone)
{
    static const char *const modes[] = { "new", "replace" };
    uint64_t before;

    tour_crowd();
    before = digest();
    ask("CONFIG SET maxmemory 1");
    for (size_t i = 0; i < 2; i++) {
        ck_assert_mem_eq(run_error("push", "60", modes[i], "n", "", "5", "{}", NULL), "OOM ", 4);
        ck_assert_mem_eq(run_error("push", "0", modes[i], "a1", "+9", "0", "{}", NULL), "OOM ", 4);
        tour_arguments("push");
        ck_assert_mem_eq(run_error("push", NULL), "OOM ", 4);
    }
    ck_assert_mem_eq(run_error("push_now", "0", "n", "{}", "1", NULL), "OOM ", 4);
    ask("CONFIG SET maxmemory 0");
    ck_assert_uint_eq(digest(), before);
}

/* The first line in which two pictures differ: Check takes messages of up to 8 KiB. */
static void check_same_picture(const char *script, const char *full, const char *roomy)
{
    size_t line = 0;

    for (size_t i = 0; full[i] && full[i] == roomy[i]; i++)
        line = full[i] == '\n' ? i + 1 : line;
    ck_assert_msg(strcmp(full, roomy) == 0, "%s on a full Redis:\n%.3000s\ninstead of:\n%.3000s",
                  script, &full[line], &roomy[line]);
}

TEST(a_full_redis_lets_all_else_go_on)
{
    for (const char *const *script = tour_scripts; *script; script++) {
        if (strncmp(*script, "push", 4) == 0 || strcmp(*script, "cron_fire") == 0 ||
            strcmp(*script, "cron_put") == 0 || strcmp(*script, "flow_push") == 0 ||
            strcmp(*script, "flow_join") == 0 || strcmp(*script, "flow_park") == 0)
            continue;
        check_same_picture(*script, picture_after(*script, true), picture_after(*script, false));
        check_sums();
        harness_free();
    }
}

TEST(a_full_redis_is_drained_by_its_workers)
{
    tour_crowd();
    ask("CONFIG SET maxmemory 1");
    for (int i = 0; i < 3; i++) {
        run("migrate", "500", NULL);
        lapse("");
        const redisReply *jobs = reserve((char)('0' + i), 3);

        for (size_t n = 1; n < jobs->elements; n += 3)
            arg(member((char)('0' + i), jobs->element[n]->str));
        ck_assert_str_eq(flat(run("ack", NULL)), "");
        check_sums();
    }
    ck_assert_int_eq(stat_of("done"), 8); /* 3 pushed, 3 plain or junk, 1 due, 1 lapsed */
    ask("CONFIG SET maxmemory 0");
}

TEST(a_stock_sells_on_a_full_redis)
{
    run("stock_set", "2", NULL);
    ask("CONFIG SET maxmemory 1");
    ck_assert_str_eq(flat(run("stock_claim", "ann", NULL)), "1 1");
    ck_assert_str_eq(flat(run("stock_set", "3", NULL)), "2");
    ck_assert_str_eq(flat(run("limit_fixed", "1", "60", NULL)), "");
    ck_assert_str_ne(flat(run("limit_fixed", "1", "60", NULL)), "");
    ck_assert_str_eq(flat(run("limit_sliding", "1", "60", NULL)), "");
    ck_assert_str_ne(flat(run("limit_sliding", "1", "60", NULL)), "");
    ask("CONFIG SET maxmemory 0");
}

/* ---- keys of another type */

static const char *const makers[][2] = { { "string", "SET %s 1" },
                                         { "list", "RPUSH %s 1" },
                                         { "hash", "HSET %s f 1" },
                                         { "zset", "ZADD %s 1 m" },
                                         { "set", "SADD %s m" } };

/* wake and paused are written again. */
static bool made_anew(const char *name)
{
    return strcmp(name, key("wake")) == 0 || strcmp(name, key("paused")) == 0;
}

static const char *bytes_of(const char *name)
{
    const redisReply *dump = ask("DUMP %s", name);
    char *hex = harness_keep(calloc(2, dump->len + 1));

    for (size_t i = 0; i < dump->len; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned)(unsigned char)dump->str[i]);
    return hex;
}

/* Runs a script with one of its keys of another type. It must fail without having changed anything,
 * or work without that key. Returns whether it failed. */
static bool run_with_wrong(const char *script, const char *name, const char *const maker[2],
                           bool grouped)
{
    const redisReply *reply;
    const char *right, *bytes;
    uint64_t before;

    tour_crowd();
    if (grouped)
        tour_group();
    right = ask("TYPE %s", name)->str;
    ask("DEL %s", name);
    ask(maker[1], name);
    before = digest();
    bytes = bytes_of(name);
    tour_arguments(script);
    reply = run_any(script, NULL);
    if (reply->type == REDIS_REPLY_ERROR)
        ck_assert_msg(digest() == before, "%s with %s a %s failed half-way: %s", script, name,
                      maker[0], reply->str);
    else if (strcmp(right, maker[0]) != 0 && strcmp(right, "none") != 0 && !made_anew(name))
        ck_assert_msg(strcmp(bytes_of(name), bytes) == 0, "%s with %s a %s changed it", script,
                      name, maker[0]);
    return reply->type == REDIS_REPLY_ERROR;
}

TEST(keys_of_another_type_change_nothing)
{
    int failed = 0;

    for (const char *const *script = tour_scripts; *script; script++) {
        const struct later_script_text *row = script_text(*script);
        const char *names[16];

        script_keys(row, names);
        for (int k = 0; k < row->key_count; k++) {
            for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
                failed += run_with_wrong(*script, names[k], makers[m], false);
                harness_free();
            }
        }
    }
    ck_assert_int_gt(failed, 300);
}

/* Those of groups are no keys of a call, and only read where jobs have one. */
TEST(keys_of_groups_of_another_type_change_nothing)
{
    static const char *const names[] = { "fair", "groups" };
    int failed = 0;

    for (const char *const *script = tour_scripts; *script; script++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            for (size_t m = 0; m < sizeof makers / sizeof *makers; m++) {
                if (strcmp(makers[m][0], "hash") == 0)
                    continue;
                failed += run_with_wrong(*script, key(names[k]), makers[m], true);
                harness_free();
            }
        }
    }
    ck_assert_int_gt(failed, 80);
}

TEST(a_pause_outlives_a_resume_that_failed)
{
    run("pause", NULL);
    ask("SET %s 1", key("ready"));
    run_error("resume", NULL);
    ck_assert_int_eq(size_of("paused"), 1);
}

/* ---- junk where numbers should be */

static void spoil(const char *hash, const char *junk)
{
    const redisReply *fields = ask("HKEYS %s", key(hash));

    for (size_t f = 0; f < fields->elements; f++)
        ask("HSET %s %s %s", key(hash), fields->element[f]->str, junk);
}

TEST(junk_beside_jobs_stops_nothing)
{
    static const char *const junk[] = {
        "x", "nan", "", "1.5", "\n\n=\n", "9223372036854775807", "a\n", "-inf", "a=b", "1e99"
    };

    for (const char *const *script = tour_scripts; *script; script++) {
        for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
            tour_crowd();
            spoil("stats", junk[i]);
            spoil("records", i % 2 ? text("a=%s\nc=%s\ni=%s\np=%s\nu=%s\nt=%s", junk[i], junk[i],
                                          junk[i], junk[i], junk[i], junk[i])
                                   : junk[i]);
            tour_arguments(*script);
            run(*script, NULL);
            check_members();
            harness_free();
        }
    }
}

TEST_EACH(junk_counts_begin_anew, 5)
{
    static const char *const junk[] = { "nan", "inf", "x", "1e99", "" };

    push("a");
    reserve('t', 1);
    push_when("b", "+100");
    make_due("reserved");
    make_due("delayed");
    note("p", "a", junk[_i]);
    note("p", "b", junk[_i]);
    note("a", "a", junk[_i]);
    ask("HSET %s lapsed %s", key("stats"), junk[_i]);
    ck_assert_int_eq(run("migrate", "500", NULL)->element[0]->integer, 1);
    ck_assert_int_eq(lapse(""), 1);
    ck_assert_int_eq(size_of("ready"), 2);
    ck_assert_str_eq(noted("a", "a"), "1");
    ck_assert_int_eq(stat_of("lapsed"), 1);
    check_sums();
}

/* ---- scripts themselves */

TEST(the_table_knows_the_sha1_of_each_script)
{
    int toured = 0;

    while (tour_scripts[toured])
        toured++;
    ck_assert_int_eq(toured, LATER_SCRIPT_COUNT - 1); /* none is forgotten; probe is by itself */
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++) {
        const struct later_script_text *row = &later_script_texts[i];

        ck_assert_uint_eq(strlen(row->text), row->len);
        ck_assert_str_eq(ask("SCRIPT LOAD %b", row->text, row->len)->str, row->sha);
    }
}

TEST(after_script_flush_nothing_has_run)
{
    uint64_t before;

    tour_crowd();
    before = digest();
    ask("SCRIPT FLUSH");
    for (const char *const *script = tour_scripts; *script; script++) {
        tour_arguments(*script);
        ck_assert_mem_eq(run_error(*script, NULL), "NOSCRIPT ", 9);
    }
    ck_assert_uint_eq(digest(), before);
    for (const char *const *script = tour_scripts; *script; script++) {
        const struct later_script_text *row = script_text(*script);

        ask("SCRIPT LOAD %b", row->text, row->len);
        tour_arguments(*script);
        run(*script, NULL);
    }
    check_sums();
}

TEST(wrong_numbers_of_keys_and_arguments_are_refused)
{
    uint64_t before;

    tour_crowd();
    before = digest();
    for (int i = 0; i < LATER_SCRIPT_COUNT; i++) {
        const struct later_script_text *row = &later_script_texts[i];
        bool more = strcmp(row->name, "reserve") == 0 || strcmp(row->name, "step") == 0; /* ahead */
        const char *names[17], *list = "";

        script_keys(row, names);
        names[row->key_count] = "later:{q}:more";
        for (int count = 0; count <= row->key_count + !more; count++) {
            if (count > 0)
                list = text("%s %s", list, names[count - 1]);
            if (count == row->key_count)
                continue;
            const redisReply *reply =
                ask_error(text("EVALSHA %s %d%s a a a a a a", row->sha, count, list));

            ck_assert_int_eq(reply->type, REDIS_REPLY_ERROR);
            ck_assert_mem_eq(reply->str, "ERR usage: ", 11);
        }
        for (int n = 0; n < row->argc + (row->group == 0); n++) { /* too few, or one too many */
            int count = row->group == 0 && n == row->argc ? row->argc + 1 : n;

            for (int a = 0; a < count; a++)
                arg("1");
            ck_assert_mem_eq(run_error(row->name, NULL), "ERR usage: ", 11);
        }
        if (row->group > 1) {
            for (int a = 0; a < row->argc + row->group + 1; a++)
                arg("1");
            ck_assert_mem_eq(run_error(row->name, NULL), "ERR usage: ", 11);
        }
    }
    ck_assert_uint_eq(digest(), before);
}
