/* test_jobs.c: the plugins null, sleep and flash_sale in the fake host. */
#include "base/clock.h"
#include "tests/unit/fake_host.h"
#include "tests/unit/unit.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef JOBS_DIR
#define JOBS_DIR "."
#endif

static const struct later_plugin *plugin;

static void load(const char *name)
{
    const char *dir = getenv("JOBS_DIR");
    char path[1024];

    fake_reset();
    snprintf(path, sizeof path, "%s/%s.so", dir ? dir : JOBS_DIR, name);
    plugin = fake_plugin_load(path);
    ck_assert_ptr_nonnull(plugin);
    ck_assert_str_eq(plugin->name, name);
}

static void load_null(void)
{
    load("null");
}

static void load_sleep(void)
{
    load("sleep");
    fake.base = event_base_new();
    ck_assert_ptr_nonnull(fake.base);
}

static void load_flash_sale(void)
{
    load("flash_sale");
}

static void end(void)
{
    ck_assert_msg(fake.misuses == 0, "%s", fake.misuse);
    if (fake.base)
        event_base_free(fake.base);
}

/* Performs one job of this type; error gets what it said. Returns the result. */
static enum later_result perform(const char *type, const char *payload, char error[FAKE_ERROR + 1])
{
    struct later_job *job = fake_job_new(type, payload);
    enum later_result result = fake_job_perform(plugin, job);

    if (error)
        strcpy(error, job->error);
    if (result != LATER_DEFERRED)
        fake_job_free(job);
    return result;
}

CASE("null", load_null, end);

TEST(null_is_done)
{
    ck_assert_int_eq(perform("null", NULL, NULL), LATER_DONE);
    ck_assert_int_eq(perform("null", "{\"anything\":[1,2]}", NULL), LATER_DONE);
}

CASE("sleep", load_sleep, end);

TEST(sleep_a_thousand)
{
    enum { COUNT = 1000 };
    struct later_job *jobs[COUNT];
    double begin = later_clock(), took;

    for (int i = 0; i < COUNT; i++) {
        jobs[i] = fake_job_new("sleep", "{\"seconds\": 0.2}");
        ck_assert_int_eq(fake_job_perform(plugin, jobs[i]), LATER_DEFERRED);
        ck_assert(!jobs[i]->ended);
    }
    ck_assert_int_eq(event_base_dispatch(fake.base), 1); /* 1: until no event is left */
    took = later_clock() - begin;
    for (int i = 0; i < COUNT; i++) {
        ck_assert(jobs[i]->ended && jobs[i]->result == LATER_DONE);
        fake_job_free(jobs[i]);
    }
    ck_assert_msg(took > 0.19, "%f", took); /* libevent's clock is 4 ms coarse */
    ck_assert_msg(took < 20, "%f", took);   /* one after the other would take 200 */
}

TEST(sleep_in_order)
{
    static const char *const payloads[] = { "{\"seconds\":0.3}", "{\"seconds\":0}",
                                            "{\"seconds\":1e-1,\"why\":\"none\"}" };
    struct later_job *jobs[3];

    for (int i = 0; i < 3; i++) {
        jobs[i] = fake_job_new("sleep", payloads[i]);
        ck_assert_int_eq(fake_job_perform(plugin, jobs[i]), LATER_DEFERRED);
    }
    event_base_dispatch(fake.base);
    ck_assert(jobs[1]->ended && jobs[1]->ended < jobs[2]->ended);
    ck_assert_uint_lt(jobs[2]->ended, jobs[0]->ended);
    for (int i = 0; i < 3; i++)
        fake_job_free(jobs[i]);
}

TEST(sleep_cancelled)
{
    struct later_job *job = fake_job_new("sleep", "{\"seconds\": 3600}");

    ck_assert_int_eq(fake_job_perform(plugin, job), LATER_DEFERRED);
    fake_job_cancel(job);
    ck_assert(job->ended && job->result == LATER_RETRY);
    ck_assert_str_eq(job->error, "woken before its time");
    ck_assert_int_eq(event_base_loop(fake.base, EVLOOP_NONBLOCK), 1); /* no timer is left */
    fake_job_free(job);
}

static const char *const bad_sleeps[] = { NULL,
                                          "1",
                                          "[]",
                                          "{}",
                                          "{\"seconds\": \"1\"}",
                                          "{\"seconds\": true}",
                                          "{\"seconds\": -0.5}",
                                          "{\"seconds\": 315360001}",
                                          "{\"seconds\": 1e300}",
                                          "{\"Seconds\": 1}" };

TEST_EACH(sleep_bad, COUNT(bad_sleeps))
{
    char error[FAKE_ERROR + 1];

    ck_assert_int_eq(perform("sleep", bad_sleeps[_i], error), LATER_BURY);
    ck_assert_str_eq(error, "payload must be {\"seconds\": N}, N from 0 to 315360000");
    ck_assert_int_eq(event_base_loop(fake.base, EVLOOP_NONBLOCK), 1);
}

CASE("flash_sale", load_flash_sale, end);

TEST(buy_ten_of_a_hundred)
{
    char payload[64];

    fake.stock = 10;
    for (int i = 0; i < 100; i++) {
        snprintf(payload, sizeof payload, "{\"item\":\"phone\",\"buyer\":\"b%d\"}", i);
        ck_assert_int_eq(perform("flash_sale.buy", payload, NULL), LATER_DONE);
    }
    ck_assert_uint_eq(fake.claims, 10);
    ck_assert_str_eq(fake.claimed[9], "b9");
    ck_assert_uint_eq(fake.logged[LATER_DEBUG], 100);
    ck_assert_uint_eq(fake.pushes, 0);
}

TEST(buy_words)
{
    fake.stock = 1;
    ck_assert_int_eq(perform("flash_sale.buy", "{\"item\":\"phone\",\"buyer\":\"b1\"}", NULL), 0);
    ck_assert_int_eq(perform("flash_sale.buy", "{\"buyer\":\"b1\",\"item\":\"phone\"}", NULL), 0);
    ck_assert_int_eq(perform("flash_sale.buy", "{\"item\":\"phone\",\"buyer\":\"b2\"}", NULL), 0);
    ck_assert_str_eq(fake.log, "debug phone number 1 goes to b1\n"
                               "debug phone number 1 went before to b1\n"
                               "debug phone: sold out, nothing for b2\n");
}

TEST(buy_without_redis)
{
    char error[FAKE_ERROR + 1];

    fake.redis_away = true;
    ck_assert_int_eq(perform("flash_sale.buy", "{\"item\":\"phone\",\"buyer\":\"b1\"}", error),
                     LATER_RETRY);
    ck_assert_str_eq(error, "the stock of phone could not be asked");
}

static const char *const bad_buys[] = { NULL,
                                        "\"phone\"",
                                        "{}",
                                        "{\"item\":\"phone\"}",
                                        "{\"buyer\":\"b1\"}",
                                        "{\"item\":\"\",\"buyer\":\"b1\"}",
                                        "{\"item\":\"phone\",\"buyer\":\"\"}",
                                        "{\"item\":\"a phone\",\"buyer\":\"b1\"}",
                                        "{\"item\":\"phone\",\"buyer\":\"b}\"}",
                                        "{\"item\":\"{phone}\",\"buyer\":\"b1\"}",
                                        "{\"item\":\"phone\",\"buyer\":\"b\\n1\"}",
                                        "{\"item\":5,\"buyer\":6}",
                                        "{\"item\":[\"phone\"],\"buyer\":\"b1\"}" };

TEST_EACH(buy_bad, COUNT(bad_buys))
{
    char error[FAKE_ERROR + 1];

    fake.stock = 1;
    ck_assert_int_eq(perform("flash_sale.buy", bad_buys[_i], error), LATER_BURY);
    ck_assert_msg(strncmp(error, "payload must be", 15) == 0, "%s", error);
    ck_assert_uint_eq(fake.claims, 0);
}

/* 200 characters are a name, 201 are not. */
TEST_EACH(buy_long, 2)
{
    char payload[300];

    fake.stock = 1;
    snprintf(payload, sizeof payload, "{\"item\":\"phone\",\"buyer\":\"%0*d\"}", 200 + _i, 7);
    ck_assert_int_eq(perform("flash_sale.buy", payload, NULL), _i ? LATER_BURY : LATER_DONE);
    ck_assert_uint_eq(fake.claims, _i ? 0 : 1);
}
