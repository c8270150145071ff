/* test_config.c: options by themselves: defaults, numbers, strings, words. */
#include "config/config.h"

#include "tests/unit/config_files.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DELTA 1e-12

static void assert_real(double value, double expected)
{
    ck_assert_double_eq_tol(value, expected, DELTA);
}

/* ---- defaults */

static void assert_defaults(const struct config *c)
{
    ck_assert_str_eq(c->redis.url, "embedded");
    ck_assert_ptr_null(c->redis.password_file);
    ck_assert_str_eq(c->redis.prefix, "later");
    ck_assert_int_eq(c->state_dir[0], '/');
    assert_real(c->lease, 30);
    assert_real(c->timeout, 300);
    assert_real(c->grace, 10);
    assert_real(c->drain, 30);
    ck_assert_uint_eq(c->events, 1000);
    ck_assert_uint_eq(c->max_attempts, 25);
    assert_real(c->backoff.base, 1);
    assert_real(c->backoff.max, 3600);
    assert_real(c->backoff.jitter, 0.25);
    ck_assert_uint_eq(c->backoff.list_count, 0);
    ck_assert_uint_eq(c->crash_max, 3);
    ck_assert_uint_eq(c->recycle.jobs, 0);
    ck_assert_uint_eq(c->recycle.memory, 0);
    assert_real(c->recycle.age, 0);
    ck_assert_uint_eq(c->type_count, 0);
    ck_assert_uint_eq(c->dead.max, 0);
    assert_real(c->dead.days, 0);
    assert_real(c->flows.keep, 86400);
    ck_assert_uint_eq(c->limit_count, 0);
    ck_assert_uint_eq(c->document_max, 1048576);
    ck_assert_str_eq(c->plugins.dir, LATER_PLUGIN_DIR);
    ck_assert_ptr_null(c->plugins.load);
    ck_assert_uint_eq(c->plugins.config_count, 0);
    ck_assert_int_eq(c->log.level, CONFIG_LOG_INFO);
    ck_assert(!c->log.json);
    ck_assert_uint_eq(c->pool_count, 1);
    ck_assert_str_eq(c->pools->name, "default");
    ck_assert_uint_eq(c->pools->queue_count, 1);
    ck_assert_str_eq(c->pools->queues->name, "default");
    ck_assert_uint_eq(c->pools->queues->weight, 0);
    ck_assert_uint_eq(c->pools->memory_max, 0);
    ck_assert_uint_ge(c->pools->workers, 1);
}

CASE("defaults", config_files_begin, config_files_end);

TEST(empty_file_is_the_defaults)
{
    assert_defaults(config_of(""));
    assert_defaults(config_of("# nothing\n/* at all */\n"));
}

TEST(no_file_is_the_defaults)
{
    struct config *config;

    if (access(LATER_CONF_DIR, F_OK) == 0)
        return; /* an installed laterd: its configuration is not ours to judge */
    config = config_load(NULL, &config_err);
    ck_assert_msg(config != NULL, "%s", config_err.text);
    assert_defaults(config);
    config_free(config);
}

TEST(missing_file_that_was_asked_for)
{
    config_refused("nothere.conf", "%s/nothere.conf: No such file or directory");
}

TEST(no_workers_are_the_cores_we_may_use)
{
    cpu_set_t set, one;
    size_t core = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(core, &set))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ck_assert_uint_eq(config_of("workers = 0;")->pools->workers, (unsigned)CPU_COUNT(&set));
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_uint_eq(config_of("workers = 0;")->pools->workers, 1);
    ck_assert_uint_eq(config_of("workers = 7;")->pools->workers, 7);
    ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
}

/* ---- numbers, strings, words */

CASE("values", config_files_begin, config_files_end);

TEST(seconds_whole_or_not)
{
    const struct config *c = config_of("lease = 45; timeout = 2.5; grace = 0; drain = 1.5e2;\n"
                                       "retry = { base = .5; max = 60.; jitter = 1; };");

    assert_real(c->lease, 45);
    assert_real(c->timeout, 2.5);
    assert_real(c->grace, 0);
    assert_real(c->drain, 150);
    assert_real(c->backoff.base, 0.5);
    assert_real(c->backoff.max, 60);
    assert_real(c->backoff.jitter, 1);
}

TEST(numbers_as_they_are_written)
{
    const struct config *c =
        config_of("events = 0x10; crash_max = 08; workers = +3;\n"
                  "dead = { max = 3000000000; days = 0.5; };\n" /* over 32 bits, without L */
                  "recycle = { jobs = 1000000000; memory = 512L; age = 315360000; };\n"
                  "document = { max = 67108864LL; };");

    ck_assert_uint_eq(c->events, 16);
    ck_assert_uint_eq(c->crash_max, 8);
    ck_assert_uint_eq(c->pools->workers, 3);
    ck_assert_uint_eq(c->dead.max, 3000000000U);
    assert_real(c->dead.days, 0.5);
    ck_assert_uint_eq(c->recycle.jobs, 1000000000);
    ck_assert_uint_eq(c->recycle.memory, 512);
    assert_real(c->recycle.age, 315360000);
    ck_assert_uint_eq(c->document_max, 67108864);
}

TEST(range_ends_are_in_it)
{
    const struct config *c =
        config_of("lease = 1; timeout = 0.05; grace = 3600; drain = -0.0; events = 10000;\n"
                  "workers = 1024; crash_max = 1000; document = { max = 1024; };\n"
                  "retry = { max_attempts = 1000000; base = 0; max = 0; jitter = 0; };\n"
                  "limits = ( { queue = \"q\"; max = 1000000; per = 0.001; } );");

    assert_real(c->lease, 1);
    assert_real(c->timeout, 0.05);
    assert_real(c->grace, 3600);
    assert_real(c->drain, 0);
    ck_assert(!signbit(c->drain)); /* one zero only: equal values have equal bytes */
    ck_assert_uint_eq(c->events, 10000);
    ck_assert_uint_eq(c->pools->workers, 1024);
    ck_assert_uint_eq(c->crash_max, 1000);
    ck_assert_uint_eq(c->document_max, 1024);
    ck_assert_uint_eq(c->max_attempts, 1000000);
    assert_real(c->backoff.max, 0);
    ck_assert_uint_eq(c->limits->max, 1000000);
    assert_real(c->limits->per, 0.001);
}

/* Numbers in comments, strings and names must not be taken for values. */
TEST(numbers_where_none_are_meant)
{
    const struct config *c =
        config_of("# 4294967296 \" /*\n/* 17 \" \n # 99999999999999999999 */ lease = 40; // 1e999\n"
                  "plugins = { config = { m9-8_7 = { a = \"1 \\\" 4 # \" \"/*5\";\n"
                  "k-1 = 5; k2=-6k3=7; }; }; }; drain=9 grace=8");

    assert_real(c->lease, 40);
    assert_real(c->drain, 9);
    assert_real(c->grace, 8);
    ck_assert_uint_eq(c->plugins.config_count, 4);
    ck_assert_str_eq(c->plugins.config[0].value, "1 \" 4 # /*5");
    ck_assert_str_eq(c->plugins.config[1].value, "5");
    ck_assert_str_eq(c->plugins.config[2].value, "-6");
    ck_assert_str_eq(c->plugins.config[3].value, "7");
}

TEST(urls)
{
    static const char *const good[] = {
        "embedded",
        "unix:/run/redis/redis.sock",
        "unix:/run/redis.sock?db=3",
        "redis://localhost",
        "redis://localhost:6380",
        "redis://10.0.0.1:1/15",
        "redis://later@redis.example.org:65535/0",
        "redis://[::1]:6379/2",
        "sentinel://a,b:7,[::1]:8/main",
        "sentinel://later@a/main/2",
    };
    char text[200];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "redis = { url = \"%s\"; };", good[i]);
        ck_assert_str_eq(config_of(text)->redis.url, good[i]);
    }
}

TEST(a_refused_url_shows_no_password)
{
    config_put("laterd.conf", "redis = { url = \"redis://me:hunter2@ho st\"; };");
    ck_assert_ptr_null(config_load(config_path("laterd.conf"), &config_err));
    ck_assert_ptr_null(strstr(config_err.text, "hunter2"));
    ck_assert_ptr_nonnull(strstr(config_err.text, "password_file"));
}

TEST(words)
{
    const struct config *c = config_of("log = { level = \"error\"; format = \"json\"; };");

    ck_assert_int_eq(c->log.level, CONFIG_LOG_ERROR);
    ck_assert(c->log.json);
    c = config_of("log = { level = \"debug\"; format = \"text\"; };");
    ck_assert_int_eq(c->log.level, CONFIG_LOG_DEBUG);
    ck_assert(!c->log.json);
}

/* ---- two configurations */

CASE("pairs", config_files_begin, config_files_end);

TEST(what_cannot_change_while_running)
{
    static const struct {
        const char *text, *difference;
    } cases[] = {
        { "lease = 31; workers = 9; plugins = { dir = \"/\"; }; log = { format = \"json\"; };",
          NULL },
        { "redis = { url = \"redis://h\"; };", "redis.url" },
        { "redis = { prefix = \"other\"; };", "redis.prefix" },
        { "state_dir = \"/srv/laterd\";", "state_dir" },
    };
    struct config *old;

    config_put("old.conf", "");
    old = config_load(config_path("old.conf"), &config_err);
    ck_assert_ptr_nonnull(old);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *difference = config_fixed_difference(old, config_of(cases[i].text));

        if (cases[i].difference)
            ck_assert_str_eq(difference, cases[i].difference);
        else
            ck_assert_ptr_null(difference);
    }
    config_free(old);
    config_free(NULL);
}
