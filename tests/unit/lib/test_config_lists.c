/* test_config_lists.c: queues, pools, types and what they inherit, limits, plugins. */
#include "config/config.h"

#include "tests/unit/config_files.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void assert_real(double value, double expected)
{
    ck_assert_double_eq_tol(value, expected, 1e-12);
}

/* ---- lists */

CASE("lists", config_files_begin, config_files_end);

TEST(queues_with_and_without_weights)
{
    const struct config *c = config_of("queues = ( { name = \"critical\"; weight = 10; },\n"
                                       "           { name = \"default\"; weight = 1; } );");

    ck_assert_uint_eq(c->pools->queue_count, 2);
    ck_assert_str_eq(c->pools->queues[0].name, "critical");
    ck_assert_uint_eq(c->pools->queues[0].weight, 10);
    ck_assert_str_eq(c->pools->queues[1].name, "default");
    ck_assert_uint_eq(c->pools->queues[1].weight, 1);
    c = config_of("queues = ( { name = \"b\"; }, { name = \"a\"; } );");
    ck_assert_str_eq(c->pools->queues[0].name, "b");
    ck_assert_str_eq(c->pools->queues[1].name, "a");
    ck_assert_uint_eq(c->pools->queues[0].weight + c->pools->queues[1].weight, 0);
}

TEST(pools)
{
    const struct config *c = config_of(
        "pools = ( { name = \"video\"; queues = ( { name = \"video\"; } ); workers = 2;\n"
        "            memory_max = 512; files_max = 64; },\n"
        "          { name = \"rest\"; queues = ( { name = \"a\"; weight = 2; },\n"
        "                                      { name = \"video\"; weight = 1; } ); } );");

    ck_assert_uint_eq(c->pool_count, 2);
    ck_assert_str_eq(c->pools[0].name, "video");
    ck_assert_uint_eq(c->pools[0].workers, 2);
    ck_assert_uint_eq(c->pools[0].memory_max, 512);
    ck_assert_uint_eq(c->pools[0].files_max, 64);
    ck_assert_uint_eq(c->pools[0].queue_count, 1);
    ck_assert_str_eq(c->pools[1].name, "rest");
    ck_assert_uint_ge(c->pools[1].workers, 1); /* resolved */
    ck_assert_uint_eq(c->pools[1].memory_max, 0);
    ck_assert_uint_eq(c->pools[1].files_max, 0);
    ck_assert_uint_eq(c->pools[1].queue_count, 2);
    ck_assert_str_eq(c->pools[1].queues[1].name, "video");
    ck_assert_uint_eq(c->pools[1].queues[0].weight, 2);
}

/* The names of a pool's queues, with a space between. */
static const char *names(const struct config_pool *pool)
{
    static char text[CONFIG_QUEUES_MAX * (LATER_QUEUE_MAX + 2)];

    text[0] = '\0';
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, pool->queues[i].name);
    }
    return text;
}

/* Loaded from this file; not const, as before it is in force. */
static struct config *load(const char *text)
{
    struct config *config;

    config_put("grown.conf", text);
    config = config_load(config_path("grown.conf"), &config_err);
    ck_assert_msg(config != NULL, "%s", config_err.text);
    return config;
}

static enum config_follow follow(struct config *c, const char *queue)
{
    uint32_t pool;

    return config_follow(c, queue, true, &pool);
}

TEST(patterns_mean_queues)
{
    struct config *c =
        load("pools = (\n"
             "  { name = \"all\"; queues = ( { name = \"*\"; }, { name = \"a\"; } ); },\n"
             "  { name = \"mail\"; queues = ( { name = \"mail-*\"; max_running = 3; },\n"
             "                             { name = \"mail-x-*\"; } ); },\n"
             "  { name = \"b\"; queues = ( { name = \"b\"; } ); } );");

    ck_assert(config_follows(c) && config_pool_is_large(&c->pools[1]));
    ck_assert(!c->pools[2].followed && !config_pool_is_large(&c->pools[2]));
    ck_assert_int_eq(follow(c, "a"), CONFIG_FOLLOW_NONE); /* there are such in a list */
    ck_assert_int_eq(follow(c, "b"), CONFIG_FOLLOW_NONE);
    ck_assert_int_eq(follow(c, "c/1"), CONFIG_FOLLOW_NONE);
    ck_assert_int_eq(follow(c, "c d"), CONFIG_FOLLOW_NONE);
    ck_assert_int_eq(follow(c, "c"), CONFIG_FOLLOW_ADDED);
    ck_assert_int_eq(follow(c, "c"), CONFIG_FOLLOW_NONE);
    ck_assert_int_eq(follow(c, "mail-1"), CONFIG_FOLLOW_ADDED);
    ck_assert_int_eq(follow(c, "mail-x-1"), CONFIG_FOLLOW_ADDED);
    ck_assert_int_eq(follow(c, "mail"), CONFIG_FOLLOW_ADDED);
    ck_assert_str_eq(names(&c->pools[0]), "a c mail");
    ck_assert_str_eq(names(&c->pools[1]), "mail-1 mail-x-1");
    ck_assert_str_eq(names(&c->pools[2]), "b");
    ck_assert_uint_eq(c->pools[0].queues[0].entry, 1); /* its place in the order */
    ck_assert_uint_eq(c->pools[0].queues[1].entry, 0);
    ck_assert_uint_eq(c->pools[1].queues[0].max_running, 3);
    ck_assert_uint_eq(c->pools[1].queues[0].entry, 0);
    ck_assert_uint_eq(c->pools[1].queues[1].max_running, 0);
    ck_assert_uint_eq(c->pools[1].queues[1].entry, 1);
    ck_assert_uint_eq(atomic_load(&c->pools[1].followed->count), 2);
    ck_assert_int_eq(config_widen_one(c, "mail-1", 2), 0);
    ck_assert_uint_eq(config_serves(c, "mail-1")->served, 2);
    ck_assert_str_eq(names(&c->pools[1]), "mail-1 mail-1/0 mail-1/1 mail-x-1");
    ck_assert_uint_eq(config_followed_by(&c->pools[1], &c->pools[1].patterns[0]), 1);
    ck_assert_uint_eq(config_followed_by(&c->pools[0], &c->pools[0].patterns[0]), 2);
    config_free(c);
}

/* A schedule fires before anybody has pushed. */
TEST(a_schedule_of_a_queue_that_a_pattern_means)
{
    struct config *c =
        load("queues = ( { name = \"t-*\"; max_jobs = 9; } );\n"
             "cron = ( { name = \"x\"; every = 9.0; type = \"y\"; queue = \"t-1\"; },\n"
             "         { name = \"z\"; every = 9.0; type = \"y\"; queue = \"t-1\"; } );");

    ck_assert_str_eq(names(c->pools), "t-1");
    ck_assert_uint_eq(c->pools->queues->max_jobs, 9);
    ck_assert(!c->pools->queues->is_followed); /* it is announced */
    config_free(c);
}

TEST(a_schedule_whose_jobs_expire)
{
    const struct config *c =
        config_of("cron = ( { name = \"x\"; every = 9.0; type = \"y\"; expires_in = 30.0; },\n"
                  "         { name = \"z\"; every = 9.0; type = \"y\"; } );");

    ck_assert_uint_eq(c->cron_count, 2);
    ck_assert_double_eq(c->crons[0].expires_in, 30);
    ck_assert_double_le(c->crons[1].expires_in, 0);
    ck_assert_ptr_nonnull(strstr(c->crons[0].definition, "expires_in"));
}

TEST(patterns_that_have_no_room)
{
    struct config *c = load("queues = ( { name = \"*\"; } );");
    char name[16];

    for (int i = 0; i < CONFIG_QUEUES_MAX; i++) {
        snprintf(name, sizeof name, "q%d", i);
        ck_assert_int_eq(follow(c, name), CONFIG_FOLLOW_ADDED);
    }
    ck_assert_int_eq(follow(c, "more"), CONFIG_FOLLOW_FULL);
    ck_assert_uint_eq(c->pools->queue_count, CONFIG_QUEUES_MAX);
    config_free(c);
}

TEST(shards_stand_behind_their_queue)
{
    const struct config *c = config_of(
        "queues = ( { name = \"a\"; weight = 3; shards = 3; max_running = 7;\n"
        "             max_jobs = 100; events_kept = 70; logs_kept = 30; },\n"
        "           { name = \"b\"; weight = 1; }, { name = \"c\"; weight = 2; shards = 2; },\n"
        "           { name = \"d\"; weight = 5; shards = 1; } );");

    ck_assert_str_eq(names(c->pools), "a a/0 a/1 a/2 b c c/0 c/1 d");
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(c->pools->queues[i].weight, 3);
        ck_assert_uint_eq(c->pools->queues[i].max_running, 7);
        ck_assert_uint_eq(c->pools->queues[i].max_jobs, 100);
        ck_assert_uint_eq(c->pools->queues[i].events_kept, 70);
        ck_assert_uint_eq(c->pools->queues[i].logs_kept, 30);
        ck_assert_uint_eq(c->pools->queues[i].shards, 3);
    }
    ck_assert_uint_eq(c->pools->queues[4].weight, 1);
    ck_assert_uint_eq(c->pools->queues[4].shards, 0);
    ck_assert_uint_eq(c->pools->queues[8].shards, 1);
}

/* 124 queues with 32 shards each, and these after them: 4,092 and the rest. */
static const char *crowd(const char *rest)
{
    static char text[8192];
    size_t len = (size_t)snprintf(text, sizeof text, "queues = ( ");

    for (int i = 0; i < 124; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "{ name = \"a%d\"; shards = 32; },\n", i);
    snprintf(text + len, sizeof text - len, "%s );", rest);
    return text;
}

TEST(shards_fill_a_pool)
{
    const struct config *c = config_of(crowd("{ name = \"b\"; shards = 3; }"));

    ck_assert_uint_eq(c->pools->queue_count, CONFIG_QUEUES_MAX);
    ck_assert_str_eq(c->pools->queues[32].name, "a0/31");
    ck_assert_str_eq(c->pools->queues[4095].name, "b/2");
}

TEST(a_long_name_with_shards)
{
    const struct config *c = config_of(
        "queues = ( { name = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\";\n"
        "             shards = 32; },\n"
        "           { name = "
        "\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\";\n"
        "             shards = 1; } );");

    ck_assert_uint_eq(c->pools->queue_count, 34);
    ck_assert_str_eq(c->pools->queues[32].name,
                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/31");
}

static const char two_pools[] =
    "pools = ( { name = \"p\"; queues = ( { name = \"a\"; shards = 2; }, { name = \"ab\"; } ); },\n"
    "          { name = \"r\"; queues = ( { name = \"b\"; }, { name = \"a\"; shards = 2; } ); } );";

TEST(what_is_served)
{
    const struct config *c = config_of(two_pools);

    ck_assert_str_eq(names(&c->pools[0]), "a a/0 a/1 ab");
    ck_assert_str_eq(names(&c->pools[1]), "b a a/0 a/1");
    ck_assert_uint_eq(c->served.count, 5); /* each once */
    ck_assert_ptr_eq(config_serves(c, "a"), &c->pools[0].queues[0]);
    ck_assert_uint_eq(config_serves(c, "a")->served, 2);
    ck_assert_uint_eq(config_serves(c, "a/1")->served, 0);
    ck_assert_uint_eq(config_serves(c, "ab")->served, 0); /* none of a's */
    ck_assert_uint_eq(config_serves(c, "b")->served, 0);
    ck_assert_ptr_null(config_serves(c, "c"));
}

TEST(shards_are_added)
{
    struct config *c = load(two_pools);

    ck_assert_int_eq(config_widen_one(c, "a", 4), 0);
    ck_assert_str_eq(names(&c->pools[0]), "a a/0 a/1 a/2 a/3 ab");
    ck_assert_str_eq(names(&c->pools[1]), "b a a/0 a/1 a/2 a/3");
    ck_assert_int_eq(config_widen_one(c, "a", 3), 0); /* none are taken away */
    ck_assert_int_eq(config_widen_one(c, "a", 1), 0);
    ck_assert_int_eq(config_widen_one(c, "b", 1), 0); /* the plain one only */
    ck_assert_int_eq(config_widen_one(c, "b", 0), 0);
    ck_assert_int_eq(config_widen_one(c, "c", 8), 0); /* not served */
    ck_assert_str_eq(names(&c->pools[0]), "a a/0 a/1 a/2 a/3 ab");
    ck_assert_str_eq(names(&c->pools[1]), "b a a/0 a/1 a/2 a/3");
    ck_assert_int_eq(config_widen_one(c, "b", 2), 0);
    ck_assert_str_eq(names(&c->pools[1]), "b b/0 b/1 a a/0 a/1 a/2 a/3");
    ck_assert_uint_eq(config_serves(c, "b")->served, 2);
    ck_assert_uint_eq(config_serves(c, "a")->served, 4);
    ck_assert_ptr_eq(config_serves(c, "b/1"), &c->pools[1].queues[2]);
    config_free(c);
}

TEST(shards_that_have_no_room)
{
    struct config *c = load(crowd("{ name = \"b\"; }"));

    ck_assert_int_eq(config_widen_one(c, "b", 3), 0);
    ck_assert_uint_eq(c->pools->queue_count, 4096);
    ck_assert_int_lt(config_widen_one(c, "b", 4), 0);
    ck_assert_int_eq(config_err.code, LATER_E_CONFIG);
    ck_assert_str_eq(config_err.text, "queue b: no room for 4 shards in pool default; at most 4096 "
                                      "queues and shards");
    ck_assert_uint_eq(c->pools->queue_count, 4096);
    config_free(c);
}

/* A plan that somebody has put into Redis by hand: two such names would share their shards. */
TEST(shards_of_a_name_that_is_too_long)
{
    struct config *c =
        load("queues = ( { name = "
             "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"; } );");

    ck_assert_int_lt(config_widen_one(c, c->pools->queues->name, 2), 0);
    ck_assert_int_eq(config_err.code, LATER_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(config_err.text, "at most 61 characters"));
    ck_assert_uint_eq(c->pools->queue_count, 1);
    config_free(c);
}

TEST(types_inherit_what_they_do_not_set)
{
    /* the global values come after the types, but still count */
    const struct config *c =
        config_of("types = ( { name = \"a\"; timeout = 5; max_attempts = 3; base = 2; max = 4; "
                  "jitter = 0; },\n"
                  "          { name = \"b\"; }, { name = \"c\"; backoff = ( 10, 60.5, 600 ); } );\n"
                  "timeout = 77; retry = { max_attempts = 9; base = 3; max = 33; jitter = 0.5; };");
    const struct config_type *a = config_type_find(c, "a"), *b = config_type_find(c, "b");
    const struct config_type *list = config_type_find(c, "c");

    ck_assert(a && b && list);
    assert_real(a->timeout, 5);
    ck_assert_uint_eq(a->max_attempts, 3);
    assert_real(a->backoff.base, 2);
    assert_real(a->backoff.max, 4);
    assert_real(a->backoff.jitter, 0);
    assert_real(b->timeout, 77);
    ck_assert_uint_eq(b->max_attempts, 9);
    assert_real(b->backoff.base, 3);
    assert_real(b->backoff.max, 33);
    assert_real(b->backoff.jitter, 0.5);
    ck_assert_uint_eq(b->backoff.list_count, 0);
    ck_assert_uint_eq(list->backoff.list_count, 3);
    assert_real(list->backoff.list[1], 60.5);
    assert_real(list->backoff.list[2], 600);
}

static void assert_found(const struct config *c, const char *type, const char *name)
{
    const struct config_type *row = config_type_find(c, type);

    if (!name)
        ck_assert_msg(row == NULL, "%s: found %s", type, row->name);
    else
        ck_assert_msg(row && strcmp(row->name, name) == 0, "%s: found %s instead of %s", type,
                      row ? row->name : "none", name);
}

TEST(the_most_precise_type_is_found)
{
    const struct config *c = config_of(
        "types = ( { name = \"v*\"; }, { name = \"video.encode*\"; }, { name = \"video.*\"; },\n"
        "          { name = \"video.encode\"; }, { name = \"mail\"; } );");

    assert_found(c, "video.encode", "video.encode");
    assert_found(c, "video.encode.fast", "video.encode*");
    assert_found(c, "video.cut", "video.*");
    assert_found(c, "video.", "video.*");
    assert_found(c, "video", "v*");
    assert_found(c, "mail", "mail");
    assert_found(c, "mail.send", NULL);
    assert_found(c, "", NULL);
}

TEST(ceilings)
{
    const struct config *c =
        config_of("timeout_max = 900; retry = { attempts_max = 9; wait_min = 0.5; };\n"
                  "types = ( { name = \"x\"; timeout_max = 60; },\n"
                  "          { name = \"y\"; attempts_max = 2; wait_min = 3; } );\n");
    const struct later_ceiling *x = &config_type_find(c, "x")->ceiling;
    const struct later_ceiling *y = &config_type_find(c, "y")->ceiling;

    ck_assert_double_eq(c->ceiling.timeout, 900);
    ck_assert_uint_eq(c->ceiling.attempts, 9);
    ck_assert_double_eq(c->ceiling.wait, 0.5);
    ck_assert_double_eq(x->timeout, 60);
    ck_assert_uint_eq(x->attempts, 9);
    ck_assert_double_eq(x->wait, 0.5);
    ck_assert_double_eq(y->timeout, 900);
    ck_assert_uint_eq(y->attempts, 2);
    ck_assert_double_eq(y->wait, 3);
    c = config_of("");
    ck_assert_double_eq(c->ceiling.timeout, 604800);
    ck_assert_uint_eq(c->ceiling.attempts, 1000000);
    ck_assert_double_eq(c->ceiling.wait, 0);
}

TEST(results)
{
    const struct config *c =
        config_of("types = ( { name = \"x\"; result = 86400; }, { name = \"y\"; } );\n");

    ck_assert_double_eq(config_type_find(c, "x")->result, 86400);
    ck_assert_double_eq(config_type_find(c, "y")->result, 0);
}

TEST(hooks)
{
    const struct config *c =
        config_of("queues = ( { name = \"a\"; on_done = \"q\"; }, { name = \"b\"; } );\n"
                  "types = ( { name = \"x\"; on_dead = \"a.b:c\"; }, { name = \"y\"; } );\n");

    ck_assert_str_eq(config_type_find(c, "x")->hooks.on_dead, "a.b:c");
    ck_assert_str_eq(config_type_find(c, "x")->hooks.on_done, "");
    ck_assert_str_eq(config_type_find(c, "y")->hooks.on_dead, "");
    ck_assert_str_eq(c->pools->queues[0].hooks.on_done, "q");
    ck_assert_str_eq(c->pools->queues[1].hooks.on_done, "");
}

TEST(exclusive_and_running)
{
    const struct config *c =
        config_of("queues = ( { name = \"a\"; max_running = 3; }, { name = \"b\"; } );\n"
                  "types = ( { name = \"x\"; exclusive = \"type\"; },\n"
                  "          { name = \"y.*\"; exclusive = \"no\"; max_running = 1000000; } );\n");

    ck_assert_uint_eq(c->pools->queues[0].max_running, 3);
    ck_assert_uint_eq(c->pools->queues[1].max_running, 0);
    ck_assert(config_type_find(c, "x")->exclusive);
    ck_assert_uint_eq(config_type_find(c, "x")->max_running, 0);
    ck_assert(!config_type_find(c, "y.z")->exclusive);
    ck_assert_uint_eq(config_type_find(c, "y.z")->max_running, 1000000);
}

/* Those of the same thing have numbers: they are counted apart. */
TEST(limits_of_the_same)
{
    const struct config *c = config_of(
        "limits = ( { type = \"a\"; max = 3; per = 1; }, { type = \"b\"; max = 3; per = 1; "
        "},\n { type = \"a\"; max = 9; per = 60; }, { type = \"a\"; member = \"to\"; max = 1; "
        "per = 1; },\n { queue = \"a\"; max = 1; per = 1; }, { type = \"a\"; max = 99; per = "
        "3600; } );\n");
    static const uint32_t nth[] = { 0, 0, 1, 0, 0, 2 };

    ck_assert_uint_eq(c->limit_count, 6);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_uint_eq(c->limits[i].nth, nth[i]);
    ck_assert_str_eq(c->limits[3].member, "to");
    ck_assert_str_eq(c->limits[0].member, "");
}

TEST(limits)
{
    const struct config *c =
        config_of("limits = ( { type = \"sms.*\"; max = 10; per = 1; window = \"fixed\"; },\n"
                  "           { queue = \"mail\"; max = 3; per = 0.5; },\n"
                  "           { type = \"x\"; max = 1; per = 60; window = \"sliding\"; } );");

    ck_assert_uint_eq(c->limit_count, 3);
    ck_assert_str_eq(c->limits[0].type, "sms.*");
    ck_assert_str_eq(c->limits[0].queue, "");
    ck_assert(!c->limits[0].sliding);
    ck_assert_str_eq(c->limits[1].type, "");
    ck_assert_str_eq(c->limits[1].queue, "mail");
    ck_assert_uint_eq(c->limits[1].max, 3);
    assert_real(c->limits[1].per, 0.5);
    ck_assert(c->limits[1].sliding);
    ck_assert(c->limits[2].sliding);
}

TEST(groups)
{
    const struct config *c =
        config_of("groups = ( { queue = \"default\"; max_running = 3; },\n"
                  "           { queue = \"default\"; group = \"a@b.c\"; weight = 4; } );\n"
                  "limits = ( { queue = \"a\"; max = 1; per = 60; },\n"
                  "           { queue = \"a\"; by = \"group\"; max = 1; per = 60; } );");

    ck_assert_uint_eq(c->group_count, 2);
    ck_assert_str_eq(c->groups[0].queue, "default");
    ck_assert_str_eq(c->groups[0].group, "");
    ck_assert_uint_eq(c->groups[0].max_running, 3);
    ck_assert_str_eq(c->groups[1].group, "a@b.c");
    assert_real(c->groups[1].weight, 4);
    ck_assert_uint_eq(c->groups[1].max_running, 0);
    ck_assert(!c->limits[0].by_group && c->limits[1].by_group);
    ck_assert_uint_eq(c->limits[1].nth, 0);
}

TEST(plugins_to_load)
{
    const struct config *c = config_of("plugins = { load = ( \"mail\", \"my_exec-2\" ); };");

    ck_assert_str_eq(c->plugins.load[0], "mail");
    ck_assert_str_eq(c->plugins.load[1], "my_exec-2");
    ck_assert_ptr_null(c->plugins.load[2]);
    c = config_of("plugins = { load = [ \"mail\" ]; };");
    ck_assert_str_eq(c->plugins.load[0], "mail");
    ck_assert_ptr_null(c->plugins.load[1]);
}

/* ---- leaves of plugins.config */

static void assert_leaf(const struct config *c, uint32_t i, const char *key, const char *value,
                        unsigned line)
{
    const struct config_leaf *leaf = &c->plugins.config[i];
    char name[200];

    ck_assert_uint_lt(i, c->plugins.config_count);
    snprintf(name, sizeof name, "%s.%s", leaf->plugin, leaf->key);
    ck_assert_str_eq(name, key);
    ck_assert_str_eq(leaf->value, value);
    ck_assert_str_eq(leaf->file, config_path("laterd.conf"));
    ck_assert_uint_eq(leaf->line, line);
}

CASE("leaves", config_files_begin, config_files_end);

TEST(leaves_are_flat_and_in_order)
{
    const struct config *c = config_of("plugins = { config = {\n"
                                       "  mail = {\n"
                                       "    port = 25;\n"
                                       "    host = \"localhost\";\n"
                                       "    tls = { on = true; off = FALSE; };\n"
                                       "    to = [ \"a\", \"b\" ];\n"
                                       "    rows = ( { n = 1; }, 2.50, ( \"x\" ), { } );\n"
                                       "  };\n"
                                       "  exec = { a = \"\"; };\n"
                                       "  idle = { };\n"
                                       "}; };\n");

    ck_assert_uint_eq(c->plugins.config_count, 10);
    assert_leaf(c, 0, "exec.a", "", 9);
    assert_leaf(c, 1, "mail.host", "localhost", 4);
    assert_leaf(c, 2, "mail.port", "25", 3);
    assert_leaf(c, 3, "mail.rows.0.n", "1", 7);
    assert_leaf(c, 4, "mail.rows.1", "2.5", 7);
    assert_leaf(c, 5, "mail.rows.2.0", "x", 7);
    assert_leaf(c, 6, "mail.tls.off", "false", 5);
    assert_leaf(c, 7, "mail.tls.on", "true", 5);
    assert_leaf(c, 8, "mail.to.0", "a", 6);
    assert_leaf(c, 9, "mail.to.1", "b", 6);
}

TEST(leaves_keep_what_numbers_mean)
{
    const struct config *c = config_of(
        "plugins = { config = { m = { l = ( 3000000000, -3000000000, 0xFF, 007,\n"
        "9223372036854775807, 0.1, 1e21, 1e-7, 0.30000000000000004, 12L, -0.5, 1000.0 );\n"
        "}; }; };");
    static const char *const values[] = { "3000000000",          "-3000000000", "255",   "7",
                                          "9223372036854775807", "0.1",         "1e+21", "1e-07",
                                          "0.30000000000000004", "12",          "-0.5",  "1000" };

    ck_assert_uint_eq(c->plugins.config_count, 12);
    for (uint32_t i = 0; i < 12; i++)
        ck_assert_str_eq(c->plugins.config[i].value, values[i]);
    ck_assert_str_eq(c->plugins.config[2].key, "l.2");
    ck_assert_str_eq(c->plugins.config[10].key, "l.10"); /* by number, not by letter */
}
