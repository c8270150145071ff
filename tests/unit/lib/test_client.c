/* test_client.c: the blocking client: opening, pushing, and a Redis that fails. */
#include "tests/unit/live.h"

#include "client/call.h"
#include "job/document.h"
#include "later/client.h"
#include "queue/queue.h"
#include "tests/support/fake_redis.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct later_client *client;
static struct fake_redis *fake;
static struct later_error err;

static void set_up(void)
{
    live_begin();
    client = NULL;
    fake = NULL;
    err = (struct later_error){ LATER_OK, "" };
}

static void tear_down(void)
{
    later_client_close(client);
    if (fake)
        fake_stop(fake);
    live_end();
}

static void open_at(const char *url, double timeout)
{
    client = later_client_open_with(
        &(struct later_client_options){ .url = url, .timeout = timeout }, &err);
    ck_assert_msg(client != NULL, "%s", err.text);
}

static void open_fake(fake_script *script, void *arg, double timeout)
{
    fake = fake_start(script, arg);
    ck_assert_ptr_nonnull(fake);
    open_at(fake_url(fake), timeout);
}

static int push(struct later_new_job job)
{
    return later_push(client, "q", &job, NULL, NULL, &err);
}

/* ---- opening */

static void check_refused(struct later_client_options options, const char *words)
{
    ck_assert_ptr_null(later_client_open_with(&options, &err));
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

LIVE_CASE("opening", set_up, tear_down);

TEST(test_open_refused)
{
    char long_url[LATER_URL_SIZE + 1], path[] = "/tmp/later-empty-XXXXXX";
    int fd = mkstemp(path);

    memset(long_url, 'x', sizeof long_url - 1);
    long_url[sizeof long_url - 1] = '\0';
    check_refused((struct later_client_options){ .url = "http://h" }, "redis url");
    check_refused((struct later_client_options){ .url = long_url }, "longer than");
    check_refused((struct later_client_options){ .url = "unix:/x", .prefix = "{}" }, "prefix");
    check_refused((struct later_client_options){ .url = "unix:/x", .prefix = "" }, "prefix");
    check_refused(
        (struct later_client_options){ .url = "unix:/x", .password_file = "/nonexistent" },
        "/nonexistent");
    check_refused((struct later_client_options){ .url = "unix:/x", .password_file = path }, path);
    close(fd);
    unlink(path);
    later_client_close(NULL);
}

TEST(test_open_by_environment)
{
    setenv("LATER_REDIS_URL", live_url, 1);
    client = later_client_open(NULL, &err);
    ck_assert_ptr_nonnull(client);
    ck_assert_int_eq(push((struct later_new_job){ .type = "t" }), 0);
    later_client_close(client);
    setenv("LATER_REDIS_URL", "nonsense", 1);
    client = later_client_open(NULL, &err);
    ck_assert_ptr_null(client);
    unsetenv("LATER_REDIS_URL");
    client = later_client_open(NULL, &err); /* the embedded one's socket; nothing is asked yet */
    ck_assert_ptr_nonnull(client);
}

/* ---- pushing */

LIVE_CASE("pushing", set_up, tear_down);

TEST(test_push)
{
    struct later_new_job job = { .type = "mail.send", .payload = "{ \"to\" : [1.50] }", .id = "a" };
    enum later_push_result result;
    char id[LATER_ID_SIZE];

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push(client, "q", &job, id, &result, &err), 0);
    ck_assert_str_eq(id, "a");
    ck_assert_int_eq(result, LATER_IS_PUSHED);
    ck_assert_ptr_nonnull(strstr(live_string("HGET later:{q}:jobs a"), "{ \"to\" : [1.50] }"));
    ck_assert_int_eq(later_push(client, "q", &job, id, &result, &err), 0);
    ck_assert_int_eq(result, LATER_IS_KNOWN);
    job.replace = 1;
    job.payload = "2";
    ck_assert_int_eq(later_push(client, "q", &job, id, &result, &err), 0);
    ck_assert_int_eq(result, LATER_IS_REPLACED);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 1);
    ck_assert_int_eq(live_number("SISMEMBER later:queues q"), 1);
    live_check("q");
}

/* What a program has as plain text need not be made JSON by it. */
TEST(test_push_text)
{
    struct later_new_job job = { .type = "t", .payload = "say \"hi\"", .id = "a", .text = 1 };

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push(client, "q", &job, NULL, NULL, &err), 0);
    ck_assert_str_eq(live_string("HGET later:{q}:jobs a"),
                     "{\"type\":\"t\",\"id\":\"a\",\"payload\":\"say \\\"hi\\\"\"}");
}

/* A client of a program that knows of larger documents than the default, or wants none of them. */
TEST(test_document_max)
{
    const struct later_client_options options = { .url = live_url, .document_max = 40 };
    struct later_new_job job = { .type = "t", .payload = "\"0123456789\"", .id = "a" };

    client = later_client_open_with(&options, &err);
    ck_assert_ptr_nonnull(client);
    ck_assert_int_eq(later_push(client, "q", &job, NULL, NULL, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_str_eq(err.text, "too large: t: a document of 44 bytes, 40 allowed; push where the "
                               "data is, or raise document.max");
    job.payload = "\"012345\"";
    ck_assert_int_eq(later_push(client, "q", &job, NULL, NULL, &err), 0);
}

TEST(test_push_later)
{
    char id[2][LATER_ID_SIZE];
    struct later_new_job job = { .type = "t", .in = 100 };
    double now = (double)live_number("EVAL %s 0", "return tonumber(redis.call('TIME')[1])");

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push(client, "q", &job, id[0], NULL, &err), 0);
    job = (struct later_new_job){ .type = "t", .at = 4000000000.25 };
    ck_assert_int_eq(later_push(client, "q", &job, id[1], NULL, &err), 0);
    ck_assert_str_ne(id[0], id[1]);
    ck_assert_uint_eq(strlen(id[0]), 14);
    ck_assert_str_eq(live_string("ZSCORE later:{q}:delayed %s", id[1]), "4000000000.25");
    ck_assert_double_ge(strtod(live_string("ZSCORE later:{q}:delayed %s", id[0]), NULL), now + 100);
    ck_assert_double_le(strtod(live_string("ZSCORE later:{q}:delayed %s", id[0]), NULL), now + 110);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 0);
}

TEST(test_push_unique)
{
    struct later_new_job jobs[] = { { .type = "t", .id = "a", .unique_for = 60, .priority = -3 },
                                    { .type = "t", .id = "b" },
                                    { .type = "t", .id = "ended" } };
    enum later_push_result results[3];

    open_at(live_url, UNIT_PATIENT);
    live_do("HSET later:{q}:records ended t=4000000000\n");
    ck_assert_int_eq(later_push_many(client, "q", jobs, 3, results, &err), 0);
    ck_assert_int_eq(results[0], LATER_IS_PUSHED);
    ck_assert_int_eq(results[1], LATER_IS_PUSHED);
    ck_assert_int_eq(results[2], LATER_IS_KNOWN);
    ck_assert_double_eq(strtod(live_noted("q", "u", "a"), NULL), 60);
    ck_assert_str_eq(live_noted("q", "p", "a"), "-3");
    ck_assert_str_eq(live_noted("q", "u", "b"), "");
    jobs[1].unique_for = -1;
    ck_assert_int_eq(later_push(client, "q", &jobs[1], NULL, NULL, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_str_eq(err.text, "unique_for: 0 to 1000000000 seconds");
}

static double expires_at(const char *id)
{
    const char *document = live_string("HGET later:{q}:jobs %s", id);
    struct later_document doc;

    ck_assert_msg(later_document_parse(&doc, LATER_DOCUMENT_JOB, document, strlen(document),
                                       LATER_DOCUMENT_MAX, &err) == 0,
                  "%s", err.text);
    return doc.expires_at;
}

TEST(test_push_expires_in)
{
    struct later_new_job jobs[] = { { .type = "t", .id = "a", .expires_in = 60 },
                                    { .type = "t", .id = "b", .expires_in = 60, .debounce = 5 },
                                    { .document = " {\"type\":\"t\",\"id\":\"c\"}",
                                      .expires_in = 60 } },
                         bad[] = { { .type = "t", .expires_in = -1 },
                                   { .type = "t", .expires_at = 600 },
                                   { .type = "t", .expires_in = 60, .expires_at = 4000000000 },
                                   { .type = "t", .expires_in = 60, .at = 4000000000 },
                                   { .type = "t", .expires_in = 60, .in = 60 },
                                   { .document = "{\"type\":\"t\",\"expires_at\":4000000000}",
                                     .expires_in = 60 } };
    double from = live_time();

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push_many(client, "q", jobs, 3, NULL, &err), 0);
    for (size_t i = 0; i < 3; i++) {
        const char id[] = { (char)('a' + i), '\0' };

        ck_assert_double_ge(expires_at(id), from + 60 - 1e-6);
        ck_assert_double_le(expires_at(id), live_time() + 60 + 1e-6);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(later_push(client, "q", &bad[i], NULL, NULL, &err), -1);
        ck_assert_msg(err.code == LATER_E_DATA && strstr(err.text, "expires_"), "%s", err.text);
    }
    ck_assert_int_eq(live_number("HLEN later:{q}:jobs"), 3);
}

/* The last of several documents runs, even if they are in one call. */
TEST(test_push_debounced)
{
    struct later_new_job jobs[] = {
        { .type = "t", .id = "a", .payload = "1", .debounce = 60, .max_wait = 100 },
        { .type = "t", .id = "a", .payload = "2", .debounce = 60, .max_wait = 100 },
        { .type = "t", .id = "a", .payload = "3", .debounce = 60, .max_wait = 100 },
        { .type = "t", .id = "b", .throttle = 60 },
        { .type = "t", .id = "b", .throttle = 60 },
    };
    enum later_push_result results[5];

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push_many(client, "q", jobs, 5, results, &err), 0);
    ck_assert_int_eq(results[0], LATER_IS_PUSHED);
    ck_assert_int_eq(results[1], LATER_IS_REPLACED);
    ck_assert_int_eq(results[2], LATER_IS_REPLACED);
    ck_assert_int_eq(results[3], LATER_IS_PUSHED);
    ck_assert_int_eq(results[4], LATER_IS_KNOWN);
    ck_assert_ptr_nonnull(strstr(live_string("HGET later:{q}:jobs a"), "\"payload\":3}"));
    ck_assert_int_eq(live_number("ZCARD later:{q}:delayed"), 1);
    jobs[0].id = NULL;
    ck_assert_int_eq(later_push(client, "q", &jobs[0], NULL, NULL, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_str_eq(err.text, "debounce: goes with an id: the same id is the same job");
    jobs[1].in = 5;
    ck_assert_int_eq(later_push(client, "q", &jobs[1], NULL, NULL, &err), -1);
    ck_assert_str_eq(err.text, "debounce and in: only one of them");
}

/* A running job is not disturbed. */
TEST(test_push_again)
{
    struct later_new_job job = { .type = "t", .id = "a", .payload = "2", .again = 1 };
    enum later_push_result result;

    open_at(live_url, UNIT_PATIENT);
    live_do("HSET later:{q}:jobs a {}");
    live_do("ZADD later:{q}:reserved 4000000000 tok");
    live_do("ZADD later:{q}:reserved:tok 1 a");
    ck_assert_int_eq(later_push(client, "q", &job, NULL, &result, &err), 0);
    ck_assert_int_eq(result, LATER_IS_AGAIN);
    ck_assert_str_eq(live_string("HGET later:{q}:jobs a"), "{}");
}

/* A caller's own document is pushed byte for byte. */
TEST(test_push_document)
{
    static const char document[] =
        " {\"x\" : [], \"type\":\"t\",\"id\":\"mine\",\"priority\": -3 } ";
    struct later_new_job job = { .document = document };
    char id[LATER_ID_SIZE];

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push(client, "q", &job, id, NULL, &err), 0);
    ck_assert_str_eq(id, "mine");
    ck_assert_str_eq(live_string("HGET later:{q}:jobs mine"), document);
    ck_assert_str_eq(live_noted("q", "p", "mine"), "-3");
}

TEST(test_push_bad_data)
{
    char long_id[300];
    const struct later_new_job jobs[] = {
        { .payload = "1" },                  /* no type */
        { .type = "no type" },               /* a space */
        { .type = "t", .payload = "{" },     /* no JSON */
        { .type = "t", .id = "" },           /* no id */
        { .type = "t", .id = long_id },      /* */
        { .type = "t", .priority = 101 },    /* */
        { .type = "t", .in = -1 },           /* */
        { .type = "t", .in = 315360001 },    /* over ten years */
        { .type = "t", .in = (double)NAN },  /* */
        { .type = "t", .at = -1 },           /* */
        { .type = "t", .at = 5 },            /* `in` was meant */
        { .type = "t", .at = 999999999.9 },  /* */
        { .type = "t", .at = 1e300 },        /* */
        { .type = "t", .at = (double)NAN },  /* */
        { .type = "t", .in = 1, .at = 2e9 }, /* both */
        { .type = "t", .timeout = -1 },      /* */
        { .document = "[]" },                /* */
        { .document = "{\"type\":\"t\",}" }, /* */
    };

    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = '\0';
    open_at("unix:/tmp/later-no-such-socket", 2); /* nothing is sent */
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        ck_assert_msg(push(jobs[i]) < 0, "%zu", i);
        ck_assert_msg(err.code == LATER_E_DATA, "%zu: %d %s", i, (int)err.code, err.text);
    }
    ck_assert_int_lt(
        later_push(client, "bad queue", &(struct later_new_job){ .type = "t" }, NULL, NULL, &err),
        0);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
}

TEST(test_push_many)
{
    struct later_new_job jobs[] = { { .type = "t", .id = "a" },
                                    { .type = "t", .id = "b", .in = 50 },
                                    { .type = "t", .id = "a", .replace = 1, .payload = "2" },
                                    { .type = "t", .id = "b" } };
    enum later_push_result results[4];

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push_many(client, "q", jobs, 4, results, &err), 0);
    ck_assert_int_eq(results[0], LATER_IS_PUSHED);
    ck_assert_int_eq(results[1], LATER_IS_PUSHED);
    ck_assert_int_eq(results[2], LATER_IS_REPLACED);
    ck_assert_int_eq(results[3], LATER_IS_KNOWN);
    jobs[2].type = "";
    jobs[0].id = "new";
    jobs[3].id = "behind";
    ck_assert_int_lt(later_push_many(client, "q", jobs, 4, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "job 3"));
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs new"), 1); /* those before it are */
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs behind"), 0);
    ck_assert_int_eq(later_push_many(client, "q", NULL, 0, NULL, &err), 0);
    live_check("q");
}

/* ---- flows */

static void check_field(const char *flow, const char *field, int number)
{
    ck_assert_int_eq(live_number("HGET later:{q}:flow:%s %s", flow, field), number);
}

TEST(test_push_flow)
{
    struct later_new_job jobs[] = { { .type = "t", .step = "end", .after = "a,b" },
                                    { .type = "t", .step = "a" },
                                    { .type = "t", .step = "b", .id = "own" },
                                    { .type = "t", .after = "*", .when = "ended" } };
    enum later_push_result results[4];

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push_flow(client, "q", "f", 0, jobs, 4, results, &err), 0);
    ck_assert_int_eq(results[0], LATER_IS_PUSHED);
    ck_assert_int_eq(results[3], LATER_IS_PUSHED);
    check_field("f", "total", 3);
    check_field("f", "*total", 1);
    check_field("f", "closed", 1);
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs f.a"), 1);
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs own"), 1);
    ck_assert_int_eq(live_number("HEXISTS later:{q}:jobs f:4"), 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:waiting"), 2);
    ck_assert_int_eq(later_push_flow(client, "q", "f", 0, jobs, 4, results, &err), 0);
    ck_assert_int_eq(results[0], LATER_IS_KNOWN); /* the same again */
    ck_assert_int_eq(results[3], LATER_IS_KNOWN);
    jobs[3].after = NULL;
    jobs[3].when = NULL;
    jobs[3].step = "late";
    ck_assert_int_lt(later_push_flow(client, "q", "f", 0, jobs, 4, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "flow f is closed"));
    live_check("q");
}

TEST(test_push_flow_large)
{
    enum { COUNT = 1001 };
    struct later_new_job jobs[COUNT];
    enum later_push_result results[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        jobs[i] = (struct later_new_job){ .type = "t", .flow = i % 2 ? "large" : NULL };
    jobs[0].after = "*";
    memset(results, 9, sizeof results);
    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push_flow(client, "q", "large", 0, jobs, COUNT, results, &err), 0);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_int_eq(results[i], LATER_IS_PUSHED);
    check_field("large", "open", COUNT - 1);
    check_field("large", "*waiting", 1);
    live_check("q");
}

/* Jobs of other queues, and of spread ones, wait there until the flow has heard of them. */
TEST(test_push_flow_wide)
{
    struct later_new_job jobs[] = { { .type = "t", .step = "end", .after = "a,b", .queue = "q" },
                                    { .type = "t", .step = "a", .queue = "r" },
                                    { .type = "t", .step = "b", .queue = "s" },
                                    { .type = "t" } };
    enum later_push_result results[4] = { 9, 9, 9, 9 };

    open_at(live_url, UNIT_PATIENT);
    live_do("SET later:{s}:shards %s", "1764000000123 4 1");
    ck_assert_int_eq(later_push_flow(client, "q", "f", 0, jobs, 4, results, &err), 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(results[i], LATER_IS_PUSHED);
    check_field("f", "total", 4);
    check_field("f", "waiting", 3); /* nobody moves news here */
    check_field("f", "closed", 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:waiting"), 1);
    ck_assert_int_eq(live_number("ZCARD later:{r}:waiting"), 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 1);
    ck_assert_int_eq(live_number("HEXISTS later:{s}:jobs f.b"), 0); /* it is in a shard */
    ck_assert_int_eq(live_number("SISMEMBER later:queues r"), 1);
    ck_assert_int_eq(later_push_flow(client, "q", "f", 0, jobs, 4, results, &err), 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(results[i], LATER_IS_KNOWN);
    jobs[1].queue = "r/3";
    ck_assert_int_lt(later_push_flow(client, "q", "f", 0, jobs, 4, NULL, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "job 2: queue r/3: a name is 1 to 64"));
    jobs[1].queue = "r";
    jobs[1].home = "r";
    ck_assert_int_lt(later_push_flow(client, "q", "f", 0, jobs, 4, NULL, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "job 2: home: is not q"));
}

TEST(test_push_flow_home)
{
    struct later_new_job job = { .type = "t", .flow = "f", .step = "a", .home = "h" };
    enum later_push_result result;
    char id[LATER_ID_SIZE];

    open_at(live_url, UNIT_PATIENT);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(later_push(client, "q", &job, id, &result, &err), 0);
        ck_assert_str_eq(id, "f.a");
        ck_assert_int_eq(result, i == 0 ? LATER_IS_PUSHED : LATER_IS_KNOWN);
    }
    ck_assert_int_eq(live_number("HGET later:{h}:flow:f waiting"), 1);
    ck_assert_int_eq(live_number("ZCARD later:{q}:waiting"), 1);
    job.queue = "q";
    ck_assert_int_lt(later_push(client, "q", &job, NULL, NULL, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "queue: for jobs of later_push_flow()"));
    job.queue = job.flow = job.step = NULL;
    ck_assert_int_lt(later_push(client, "q", &job, NULL, NULL, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "go with flow"));
}

/* Nothing is pushed of a flow that cannot end, or that has a bad job. */
TEST(test_push_flow_bad)
{
    static const struct {
        struct later_new_job one, two;
        const char *words;
    } bad[] = {
        { { .type = "t", .step = "a", .after = "b" },
          { .type = "t", .step = "b", .after = "a" },
          "a circle" },
        { { .type = "t", .step = "a" }, { .type = "t", .step = "a" }, "job 2: step: a is also" },
        { { .type = "t", .step = "a" }, { .type = "t", .after = "c" }, "there is no step c" },
        { { .type = "t", .step = "a b" }, { .type = "t" }, "job 1: step: must be 1 to 64" },
        { { .type = "t", .after = "a,,b" }, { .type = "t" }, "job 1: after: must be a list" },
        { { .type = "t", .after = "a,*" }, { .type = "t" }, "job 1: after: must be a list" },
        { { .type = "t", .after = "" }, { .type = "t" }, "job 1: after: must be a list" },
        { { .type = "t", .after = "a\"" }, { .type = "t" }, "job 1: after: must be names" },
        { { .type = "t", .after = "*", .when = "never" }, { .type = "t" }, "job 1: when: must be" },
        { { .type = "t", .when = "done" }, { .type = "t" }, "job 1: when: needs" },
        { { .type = "t", .flow = "g" }, { .type = "t" }, "job 1: flow: is not f" },
        { { .type = "t", .document = "{}" }, { .type = "t" }, "job 1: document: not in a flow" },
        { { .type = "t" }, { .type = "t", .id = "x", .throttle = 5 }, "job 2: expires_in" },
        { { .type = "t" }, { .type = "t", .replace = 1 }, "job 2: expires_in" },
    };

    open_at(live_url, UNIT_PATIENT);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct later_new_job jobs[] = { bad[i].one, bad[i].two };

        ck_assert_int_lt(later_push_flow(client, "q", "f", 0, jobs, 2, NULL, &err), 0);
        ck_assert_msg(err.code == LATER_E_DATA && strstr(err.text, bad[i].words), "%zu: %d %s", i,
                      (int)err.code, err.text);
    }
    ck_assert_int_lt(later_push_flow(client, "q", "no name", 0, NULL, 0, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_USAGE);
    ck_assert_int_eq(live_number("EXISTS later:{q}:jobs later:{q}:flow:f"), 0);
}

TEST(test_push_into_flow)
{
    struct later_new_job jobs[] = { { .type = "t", .flow = "f", .step = "a" },
                                    { .type = "t", .id = "plain" },
                                    { .type = "t", .flow = "f", .id = "w", .after = "a" } };
    struct later_new_job late = { .type = "t", .flow = "f", .id = "late" };
    enum later_push_result results[3] = { 9, 9, 9 };

    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(later_push_many(client, "q", jobs, 3, results, &err), 0);
    ck_assert_int_eq(results[0], LATER_IS_PUSHED);
    ck_assert_int_eq(results[1], LATER_IS_PUSHED);
    ck_assert_int_eq(results[2], LATER_IS_PUSHED);
    ck_assert_int_eq(
        push((struct later_new_job){
            .document = "{\"type\":\"t\",\"id\":\"x\",\"flow\":\"f\",\"after\":[\"a\"]}" }),
        0);
    check_field("f", "total", 3);
    check_field("f", "waiting", 2);
    check_field("f", "closed", 0);
    ck_assert_int_eq(later_push_flow(client, "q", "f", 0, NULL, 0, NULL, &err), 0); /* closes it */
    check_field("f", "closed", 1);
    ck_assert_int_lt(push(late), 0);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_ptr_nonnull(strstr(err.text, "flow f is closed"));
    late.adder = "f.a"; /* which has not ended */
    ck_assert_int_eq(push(late), 0);
    late.adder = "w"; /* it waits */
    late.id = "later";
    ck_assert_int_lt(push(late), 0);
    ck_assert_int_lt(push((struct later_new_job){ .type = "t", .after = "a" }), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "go with flow"));
    live_check("q");
}

/* Scripts are gone, connections are gone: the next call does not notice. */
TEST(test_push_full)
{
    struct later_new_job jobs[] = { { .type = "t", .id = "c" },
                                    { .type = "t", .id = "a" },
                                    { .type = "t", .id = "d" } };
    enum later_push_result results[3] = { 9, 9, 9 };

    live_do("HSET later:{q}:stats max_jobs 2");
    open_at(live_url, UNIT_PATIENT);
    ck_assert_int_eq(push((struct later_new_job){ .type = "t", .id = "a" }), 0);
    ck_assert_int_eq(push((struct later_new_job){ .type = "t", .id = "b" }), 0);
    ck_assert_int_lt(push((struct later_new_job){ .type = "t", .id = "c" }), 0);
    ck_assert_int_eq(err.code, LATER_E_LATER);
    ck_assert_ptr_nonnull(strstr(err.text, "queue q is full"));
    ck_assert_int_eq(push((struct later_new_job){ .type = "t", .id = "a" }), 0); /* it is known */
    live_do("HSET later:{q}:stats max_jobs 3");
    ck_assert_int_lt(later_push_many(client, "q", jobs, 3, results, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_LATER);
    ck_assert_int_eq(results[0], LATER_IS_PUSHED);
    ck_assert_int_eq(results[1], LATER_IS_KNOWN);
    ck_assert_int_eq(results[2], 9);
    ck_assert_int_eq(live_number("HGET later:{q}:stats refused"), 2);
    live_check("q");
}

/* What Redis keeps of calls is a few small sets, each with an end. */
TEST(test_push_is_remembered_in_little)
{
    redisContext *redis = server_connect(&live_server);
    redisReply *sets;

    open_at(live_url, UNIT_PATIENT);
    for (int i = 0; i < 1100; i++)
        ck_assert_int_eq(push((struct later_new_job){ .type = "t" }), 0);
    sets = redisCommand(redis, "KEYS later:{q}:call:*");
    ck_assert_uint_eq(sets->elements, 3);
    for (size_t i = 0; i < sets->elements; i++) {
        ck_assert_int_gt(live_number("TTL %s", sets->element[i]->str), 0);
        ck_assert_int_le(live_number("SCARD %s", sets->element[i]->str), 500 + 1); /* and -1 */
        ck_assert_int_eq(live_number("MEMORY USAGE %s", sets->element[i]->str) < 5000, 1);
    }
    freeReplyObject(sets);
    redisFree(redis);
    live_check("q");
}

TEST(test_push_survives)
{
    open_at(live_url, UNIT_PATIENT);
    for (int i = 0; i < 20; i++) {
        if (i % 3 == 0)
            live_do("SCRIPT FLUSH");
        if (i % 3 == 1)
            live_do("CLIENT KILL TYPE normal SKIPME yes");
        ck_assert_msg(push((struct later_new_job){ .type = "t" }) == 0, "%s", err.text);
    }
    ck_assert_int_eq(live_number("HGET later:{q}:stats pushed"), 20);
    ck_assert_str_eq(live_string("HGET later:{q}:stats duplicate"), "");
    live_check("q");
}

/* ---- a lost answer */

/* A reserve of this queue, by hand. */
static struct later_reply *reserve(struct later_client *by, const char *queue)
{
    struct later_command cmd = { 0 };
    struct later_keys keys;

    ck_assert_int_eq(later_call_keys(by, queue, &keys, &err), 0);
    later_queue_reserve(&cmd, &keys,
                        &(struct later_take){
                            .token = "0123456789abcdef", .lease = 30, .limit = 1, .bytes = 1000 });
    return later_call(by, &cmd, 0, false, &err);
}

static void load_scripts(void)
{
    struct later_client *other = live_client();

    ck_assert_int_eq(
        later_push(other, "warm", &(struct later_new_job){ .type = "t" }, NULL, NULL, &err), 0);
    later_reply_free(reserve(other, "warm"));
    later_client_close(other);
}

LIVE_CASE("lost answers", set_up, tear_down);

/* The job is there already, but it is this very call's: pushed, not known. */
TEST(test_lost_answer)
{
    struct later_new_job job = { .type = "t", .id = "a" };
    enum later_push_result result = LATER_IS_KNOWN;
    int lose = 1;

    load_scripts();
    open_fake(live_lose, &lose, UNIT_PATIENT);
    ck_assert_msg(later_push(client, "q", &job, NULL, &result, &err) == 0, "%s", err.text);
    ck_assert_int_eq(lose, 0);
    ck_assert_int_eq(result, LATER_IS_PUSHED);
    ck_assert_uint_eq(fake_called(fake, "EVALSHA"), 2);
    ck_assert_int_eq(live_number("HGET later:{q}:stats pushed"), 1);
    ck_assert_str_eq(live_string("HGET later:{q}:stats duplicate"), "");
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 1);
}

/* It is asked at most twice. Then the outcome is unknown, and the message says so. */
TEST(test_lost_twice)
{
    int lose = 9;

    load_scripts();
    open_fake(live_lose, &lose, UNIT_PATIENT);
    ck_assert_int_lt(push((struct later_new_job){ .type = "t" }), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_ptr_nonnull(strstr(err.text, "may or may not have been done"));
    ck_assert_int_eq(lose, 7);
    ck_assert_int_eq(live_number("ZCARD later:{q}:ready"), 1);
}

/* What may not be repeated is not. */
TEST(test_not_repeated)
{
    int lose = 1;

    load_scripts();
    live_put("q", "a", 1);
    live_put("q", "b", 2);
    open_fake(live_lose, &lose, UNIT_PATIENT);
    ck_assert_ptr_null(reserve(client, "q"));
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    ck_assert_int_eq(lose, 0);
    ck_assert_uint_eq(fake_called(fake, "EVALSHA"), 1);
    ck_assert_int_eq(live_held("q"), 1);
}

/* ---- Redis is away, or refuses */

static void accept_and_hush(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_accept(f))
        fake_wait_closed(f);
}

static double seconds_of_push(void)
{
    double from = later_clock();

    ck_assert_int_lt(push((struct later_new_job){ .type = "t" }), 0);
    ck_assert_int_eq(err.code, LATER_E_REDIS);
    return later_clock() - from;
}

LIVE_CASE("refused", set_up, tear_down);

/* A Redis that does not answer costs the timeout once, not once for each thing it is asked. */
TEST(test_deaf)
{
    double best = 100;

    open_fake(accept_and_hush, NULL, 0.3);
    for (int i = 0; i < 10 && best > 0.3 + 0.05 * live_slowness(); i++) {
        double took = seconds_of_push();

        ck_assert_double_ge(took, 0.299);
        best = took < best ? took : best;
    }
    ck_assert_double_le(best, 0.3 + 0.05 * live_slowness());
    ck_assert_ptr_nonnull(strstr(err.text, "no connection in time"));
}

TEST(test_nobody)
{
    double best = 100;

    open_at("unix:/tmp/later-no-such-socket", 5);
    for (int i = 0; i < 3; i++)
        best = fmin(best, seconds_of_push());
    ck_assert_double_le(best, 0.5 * live_slowness());
    ck_assert_str_eq(err.text, "cannot reach Redis at unix:/tmp/later-no-such-socket: "
                               "No such file or directory; is laterd, or that Redis, running?");
}

/* ---- a Unix socket that a crowd wants: its line of connections is full */

static char crowd_path[100];

static int crowd_socket(bool listens)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(at.sun_path, crowd_path);
    ck_assert_int_ge(fd, 0);
    if (listens) {
        ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
        ck_assert_int_eq(listen(fd, 0), 0);
    } else {
        ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    }
    return fd;
}

/* Once it has been tried in vain: the Redis of this test answers there. */
static void *crowd_goes(void *arg)
{
    char other[sizeof crowd_path + 8];

    (void)arg;
    usleep(50000);
    snprintf(other, sizeof other, "%s.other", crowd_path);
    ck_assert_int_eq(symlink(live_server.socket, other), 0);
    ck_assert_int_eq(rename(other, crowd_path), 0); /* at no moment is nothing there */
    return NULL;
}

TEST(test_crowd)
{
    char url[120];
    int listener, first;
    pthread_t thread;

    snprintf(crowd_path, sizeof crowd_path, "%s/crowd", live_server.folder);
    snprintf(url, sizeof url, "unix:%s", crowd_path);
    listener = crowd_socket(true);
    first = crowd_socket(false);
    open_at(url, 0.2);
    ck_assert_double_ge(seconds_of_push(), 0.2);
    ck_assert_ptr_nonnull(strstr(err.text, strerror(EAGAIN)));
    later_client_close(client);
    open_at(url, 60);
    ck_assert_int_eq(pthread_create(&thread, NULL, crowd_goes, NULL), 0);
    ck_assert_msg(push((struct later_new_job){ .type = "t" }) == 0, "%s", err.text);
    pthread_join(thread, NULL);
    unlink(crowd_path);
    close(first);
    close(listener);
}

static void shake_and_say(struct fake_redis *f, void *arg)
{
    const char *words = arg;

    while (fake_shake(f)) {
        while (fake_read(f))
            fake_say(f, strcmp(fake_word(f, 0), "SADD") == 0 ? ":1\r\n" : words);
    }
}

static void check_words(const char *words, enum later_code code, const char *text)
{
    open_fake(shake_and_say, (void *)words, UNIT_PATIENT);
    ck_assert_int_lt(push((struct later_new_job){ .type = "t" }), 0);
    ck_assert_msg(err.code == code, "%s: %d", err.text, (int)err.code);
    ck_assert_str_eq(err.text, text);
    later_client_close(client);
    client = NULL;
    fake_stop(fake);
    fake = NULL;
}

TEST(test_refusals)
{
    check_words("-OOM command not allowed\r\n", LATER_E_REDIS,
                "Redis refuses: OOM command not allowed");
    check_words("-READONLY You can't write\r\n", LATER_E_REDIS,
                "Redis refuses: READONLY You can't write");
    check_words("-NOPERM no evalsha\r\n", LATER_E_TOKEN,
                "Redis denies: NOPERM no evalsha; doc/protocol.md has the least rights");
    check_words("-NOAUTH first\r\n", LATER_E_TOKEN,
                "Redis denies: NOAUTH first; doc/protocol.md has the least rights");
    check_words("-ERR push: job 1: bad\r\n", LATER_E_DATA, "push: job 1: bad");
    check_words("-WRONGTYPE Operation\r\n", LATER_E_REDIS, "Redis refuses: WRONGTYPE Operation");
    check_words("-ODD \x1b[31mcolour\r\n", LATER_E_REDIS, "Redis refuses: ODD ?[31mcolour");
}

static void wrong_password(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_accept(f)) {
        while (fake_read(f))
            fake_say(f, "-WRONGPASS invalid\r\n");
    }
}

TEST(test_wrong_password)
{
    char path[] = "/tmp/later-password-XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_eq(write(fd, "s3cret\nmore\n", 12), 12);
    close(fd);
    fake = fake_start(wrong_password, NULL);
    client = later_client_open_with(
        &(struct later_client_options){ .url = fake_url(fake), .password_file = path }, &err);
    unlink(path);
    ck_assert_ptr_nonnull(client);
    ck_assert_int_lt(push((struct later_new_job){ .type = "t" }), 0);
    ck_assert_int_eq(err.code, LATER_E_TOKEN);
    ck_assert_ptr_nonnull(strstr(err.text, "WRONGPASS"));
    ck_assert_ptr_null(strstr(err.text, "s3cret"));
    ck_assert_uint_eq(fake_called(fake, "AUTH"), 1);
}

/* Scripts that say a word of which the client has never heard; then one that it knows. */
static void say_strange(struct fake_redis *f, void *arg)
{
    const char *const *words = arg;

    for (int i = 0; fake_shake(f); i = 0) {
        while (fake_read(f)) {
            bool is_script = strcmp(fake_word(f, 0), "EVALSHA") == 0;

            fake_say(f, is_script                   ? words[i++ > 0]
                        : fake_word(f, 0)[0] == 'S' ? ":1\r\n"
                                                    : "$-1\r\n");
        }
    }
}

TEST(test_strange)
{
    static const char *const now[] = { "$5\r\nNOVEL\r\n", "*1\r\n$12\r\nEXISTS ready\r\n" };
    static const char *const join[] = { "*1\r\n$7\r\nNOVEL 1\r\n", "*0\r\n" };
    const struct later_new_job away = { .type = "t", .queue = "r" };

    open_fake(say_strange, (void *)now, UNIT_PATIENT);
    ck_assert_int_lt(push((struct later_new_job){ .type = "t" }), 0);
    ck_assert_int_eq(err.code, LATER_E_BUG);
    later_client_close(client);
    fake_stop(fake);
    open_fake(say_strange, (void *)join, UNIT_PATIENT);
    ck_assert_int_lt(later_push_flow(client, "q", "f", 0, &away, 1, NULL, &err), 0);
    ck_assert_int_eq(err.code, LATER_E_BUG);
}

/* ---- calls */

/* The queue is named once a connection. */
static void count_names(struct fake_redis *f, void *arg)
{
    (void)arg;
    while (fake_shake(f)) {
        for (int i = 0; i < 4 && fake_read(f); i++)
            fake_say(f, strcmp(fake_word(f, 0), "SADD") == 0 ? ":1\r\n" : "$6\r\nPUSHED\r\n");
        fake_cut(f);
    }
}

LIVE_CASE("calls", set_up, tear_down);

TEST(test_named_once_a_connection)
{
    open_fake(count_names, NULL, UNIT_PATIENT);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(push((struct later_new_job){ .type = "t" }) == 0, "%s", err.text);
    ck_assert_uint_eq(fake_called(fake, "SADD"), 1);
    ck_assert_int_eq(push((struct later_new_job){ .type = "t" }), 0);
    ck_assert_uint_eq(fake_accepted(fake), 2);
    ck_assert_uint_eq(fake_called(fake, "SADD"), 2);
    ck_assert_uint_ge(fake_called(fake, "EVALSHA"), 4);
}

/* BLPOP's own wait comes on top of the client's time. */
TEST(test_wait_in_redis)
{
    struct later_command cmd = { 0 };
    struct later_reply *reply;
    double from = later_clock();

    open_at(live_url, 2);
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "BLPOP");
    later_command_text(&cmd, "later:{q}:wake");
    later_command_text(&cmd, "2.3");
    reply = later_call(client, &cmd, 60, false, &err);
    ck_assert_msg(reply != NULL, "%s", err.text);
    ck_assert(later_reply_is_nil(reply));
    later_reply_free(reply);
    ck_assert_double_ge(later_clock() - from, 2.3); /* which is more than the time for an answer */
}

static void count_answer(void *arg, struct later_answer *answer)
{
    int *counts = arg;

    counts[answer->outcome]++;
}

static void begin_pings(int count, int *counts)
{
    for (int i = 0; i < count; i++) {
        struct later_command cmd = { 0 };

        later_command_begin(&cmd, 1);
        later_command_text(&cmd, "PING");
        ck_assert_int_eq(later_call_begin(client, &cmd, count_answer, counts, &err), 0);
    }
}

static void five_then_hush(struct fake_redis *f, void *arg)
{
    (void)arg;
    if (!fake_shake(f))
        return;
    for (int i = 0; i < 5 && fake_read(f); i++)
        fake_say(f, "+PONG\r\n");
    fake_wait_closed(f);
}

TEST(test_begin_drain_abort)
{
    int counts[4] = { 0 };

    open_fake(five_then_hush, NULL, 10);
    begin_pings(7, counts);
    while (counts[LATER_ANSWERED] < 5)
        later_call_wait(client);
    later_call_abort(client);
    ck_assert_int_eq(counts[LATER_UNKNOWN], 2);
    ck_assert_int_lt(later_call_drain(client, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "given up"));
}
