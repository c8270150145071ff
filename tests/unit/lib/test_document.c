/* test_document.c: every member of a job document, right and wrong. */
#include "tests/unit/document_try.h"
#include "tests/unit/unit.h"

#include <stdio.h>

/* A document of type t with one more member. */
static const char *with(const char *member)
{
    static char text[4096];

    snprintf(text, sizeof text, "{\"type\":\"t\",%s}", member);
    return text;
}

/* `name: "xxx…"` of len characters. */
static const char *with_long(const char *name, size_t len)
{
    static char member[2048];
    int at = snprintf(member, sizeof member, "\"%s\":\"", name);

    memset(member + at, 'x', len);
    strcpy(member + at + (int)len, "\"");
    return with(member);
}

static const char *of_type(const char *type)
{
    static char text[1024];

    snprintf(text, sizeof text, "{\"type\":%s}", type);
    return text;
}

struct wrong {
    const char *member, *words;
};

static void all_refused(enum later_document_use use, const struct wrong *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = with(rows[i].member);

        refused_bytes(use, text, strlen(text), rows[i].words);
    }
}

#define ALL_REFUSED(use, rows) all_refused(use, rows, sizeof rows / sizeof *rows)

CASE("members", NULL, NULL);

TEST(test_least)
{
    struct later_document doc = good("{\"type\":\"mail.send\"}");

    ck_assert_str_eq(doc.type, "mail.send");
    ck_assert_str_eq(doc.id, "");
    ck_assert_str_eq(doc.trace, "");
    ck_assert_str_eq(doc.queue, "");
    ck_assert_int_eq(doc.priority, 0);
    ck_assert_uint_eq(doc.max_attempts, 0);
    ck_assert_double_eq(doc.timeout, 0);
    ck_assert_double_eq(doc.expires_at, 0);
    ck_assert_double_eq(doc.in, 0);
    ck_assert_double_eq(doc.at, 0);
    ck_assert(!doc.has_backoff);
    ck_assert_uint_eq(doc.payload_len, 4);
    ck_assert_mem_eq(doc.payload, "null", 4); /* static: the bytes are gone */
}

TEST(test_all)
{
    struct later_document doc =
        good("{\"type\":\"a\",\"payload\":[1],\"id\":\"i-1\",\"priority\":-7,\"max_attempts\":3,"
             "\"retry_for\":7200,\"timeout\":1.5,\"backoff\":{\"base\":2,\"max\":60},\"expires_"
             "at\":1800000000.25,"
             "\"trace\":\"00-4bf9\",\"more\":{\"type\":5}}");

    ck_assert_str_eq(doc.type, "a");
    ck_assert_str_eq(doc.id, "i-1");
    ck_assert_int_eq(doc.priority, -7);
    ck_assert_uint_eq(doc.max_attempts, 3);
    ck_assert_double_eq(doc.timeout, 1.5);
    ck_assert_double_eq(doc.retry_for, 7200);
    ck_assert_double_eq(doc.expires_at, 1800000000.25);
    ck_assert_str_eq(doc.trace, "00-4bf9");
    ck_assert(doc.has_backoff);
    ck_assert_double_eq(doc.backoff.base, 2);
    ck_assert_double_eq(doc.backoff.max, 60);
    ck_assert_uint_eq(doc.payload_len, 3);
}

TEST(test_type)
{
    static const char characters[] = "type: must consist of letters, digits and _ . : -";
    char text[300];

    for (int c = 1; c < 128; c++) {
        bool wanted = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      strchr("_.:-", c);

        snprintf(text, sizeof text, "\"a\\u%04xb\"", (unsigned)c);
        if (wanted)
            ck_assert_int_eq(good(of_type(text)).type[1], c);
        else
            refused(of_type(text), characters);
    }
    refused(of_type("\"caf\xC3\xA9\""), characters);
    refused(of_type("\"a\\u0000b\""), characters);
    refused(of_type("\"\\u0000\""), characters);
    refused(of_type("\"\""), "type: empty");
    snprintf(text, sizeof text, "\"%0128d\"", 0);
    ck_assert_uint_eq(strlen(good(of_type(text)).type), 128);
    snprintf(text, sizeof text, "\"%0129d\"", 0);
    refused(of_type(text), "type: longer than 128 bytes");
}

TEST(test_type_is_required)
{
    static const char *const others[] = {
        "null", "5", "1.5", "true", "false", "[]", "{}", "[\"a\"]"
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        refused(of_type(others[i]), "type: must be a string");
    refused("{}", "no type");
    refused("{\"Type\":\"a\"}", "no type");
    refused("{\"payload\":{\"type\":\"a\"}}", "no type");
    refused("{\"types\":\"a\",\"typ\":\"a\"}", "no type");
}

TEST(test_id)
{
    static const char characters[] = "id: must be printable ASCII without space";
    static const struct wrong rows[] = {
        { "\"id\":\"\"", "id: empty" },           { "\"id\":\"a b\"", characters },
        { "\"id\":\" a\"", characters },          { "\"id\":\"a\\n\"", characters },
        { "\"id\":\"a\\u0000\"", characters },    { "\"id\":\"a\\u007f\"", characters },
        { "\"id\":\"caf\xC3\xA9\"", characters }, { "\"id\":null", "id: must be a string" },
        { "\"id\":5", "id: must be a string" },   { "\"id\":[]", "id: must be a string" },
    };

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
    ck_assert_str_eq(good(with("\"id\":\"!#{}:\\\"\\\\~\"")).id, "!#{}:\"\\~");
    ck_assert_uint_eq(strlen(good(with_long("id", 200)).id), 200);
    refused(with_long("id", 201), "id: longer than 200 bytes");
}

TEST(test_trace)
{
    static const struct wrong rows[] = {
        { "\"trace\":null", "trace: must be a string" },
        { "\"trace\":1", "trace: must be a string" },
        { "\"trace\":\"a\\nb\"", "trace: must have no control bytes (10)" },
        { "\"trace\":\"\\u0000\"", "trace: must have no control bytes (0)" },
        { "\"trace\":\"\\u001f\"", "trace: must have no control bytes (31)" },
        { "\"trace\":\"\\u007f\"", "trace: must have no control bytes (127)" },
    };

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
    ck_assert_str_eq(good(with("\"trace\":\"\"")).trace, "");
    ck_assert_str_eq(good(with("\"trace\":\"a b \\u00e9\"")).trace, "a b \xC3\xA9");
    ck_assert_uint_eq(strlen(good(with_long("trace", 256)).trace), 256);
    refused(with_long("trace", 257), "trace: longer than 256 bytes");
}

TEST(test_hooks)
{
    static const char what[] =
        "on_dead: must be a type (letters, digits and _ . : -), or TYPE@QUEUE";
    static const struct wrong rows[] = {
        { "\"on_dead\":\"a b\"", what },
        { "\"on_dead\":\"a*\"", what },
        { "\"on_dead\":\"a\\u0000\"", what },
        { "\"on_dead\":\"@b\"", what },
        { "\"on_dead\":\"a@\"", what },
        { "\"on_dead\":\"a@b:c\"", what },
        { "\"on_dead\":\"a@b@c\"", what },
        { "\"on_dead\":\"\"", "on_dead: empty" },
        { "\"on_done\":\"\"", "on_done: empty" },
        { "\"on_done\":null", "on_done: must be a string" },
        { "\"hook_of\":1", "hook_of: must be a string" },
        { "\"hook_of\":\"\"", "hook_of: empty" },
    };

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
    ck_assert_str_eq(good(with("\"on_dead\":\"a.b:C_-9\"")).on_dead, "a.b:C_-9");
    ck_assert_uint_eq(strlen(good(with_long("on_done", 128)).on_done), 128);
    ck_assert_uint_eq(strlen(good(with_long("hook_of", 200)).hook_of), 200);
    refused(with_long("on_done", 129),
            "on_done: must be a type (letters, digits and _ . : -), or TYPE@QUEUE");
    refused(with_long("on_done", 194), "on_done: longer than 193 bytes");
    ck_assert_str_eq(good(with("\"on_dead\":\"a:b@c.d-e_9\"")).on_dead, "a:b@c.d-e_9");
    refused(with_long("hook_of", 201), "hook_of: longer than 200 bytes");
}

TEST(test_integers)
{
    static const char priority[] = "priority: must be an integer from -100 to 100";
    static const char attempts[] = "max_attempts: must be an integer from 1 to 1000000";
    static const struct wrong rows[] = {
        { "\"priority\":101", priority },
        { "\"priority\":-101", priority },
        { "\"priority\":0.5", priority },
        { "\"priority\":1e300", priority },
        { "\"priority\":-12345678901234567890", priority },
        { "\"priority\":null", "priority: must be a number" },
        { "\"priority\":\"5\"", "priority: must be a number" },
        { "\"priority\":true", "priority: must be a number" },
        { "\"priority\":[5]", "priority: must be a number" },
        { "\"max_attempts\":0", attempts },
        { "\"max_attempts\":-1", attempts },
        { "\"max_attempts\":1000001", attempts },
        { "\"max_attempts\":4294967297", attempts },
        { "\"max_attempts\":2.5", attempts },
        { "\"max_attempts\":null", "max_attempts: must be a number" },
        { "\"max_attempts\":\"3\"", "max_attempts: must be a number" },
    };

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
    ck_assert_int_eq(good(with("\"priority\":100")).priority, 100);
    ck_assert_int_eq(good(with("\"priority\":-100")).priority, -100);
    ck_assert_int_eq(good(with("\"priority\":-0")).priority, 0);
    ck_assert_int_eq(good(with("\"priority\":5.0")).priority, 5);
    ck_assert_int_eq(good(with("\"priority\":1e1")).priority, 10);
    ck_assert_uint_eq(good(with("\"max_attempts\":1")).max_attempts, 1);
    ck_assert_uint_eq(good(with("\"max_attempts\":1000000")).max_attempts, 1000000);
}

TEST(test_lock)
{
    static const char words[] =
        "lock: must be 1 to 200 printable ASCII characters without space or brace";
    static const struct wrong rows[] = {
        { "\"lock\":\"\"", words },
        { "\"lock\":\"a b\"", words },
        { "\"lock\":\"a{b\"", words },
        { "\"lock\":\"b}\"", words },
        { "\"lock\":\"\\u00e4\"", words },
        { "\"lock\":\"a\\u0000b\"", words },
        { "\"lock\":null", "lock: must be a string" },
        { "\"lock\":5", "lock: must be a string" },
    };
    char long_one[300];

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
    ck_assert_str_eq(good(with("\"lock\":\"report:7/x\"")).lock, "report:7/x");
    ck_assert_str_eq(good(with("\"id\":\"a\"")).lock, "");
    snprintf(long_one, sizeof long_one, "\"lock\":\"%0200d\"", 7);
    ck_assert_uint_eq(strlen(good(with(long_one)).lock), 200);
    snprintf(long_one, sizeof long_one, "\"lock\":\"%0201d\"", 7);
    refused(with(long_one), "lock: longer than 200 bytes");
}

/* The member that a limit counts by. */
TEST(test_bucket)
{
    static const struct {
        const char *payload, *bucket;
    } rows[] = {
        { "{\"to\":\"ann\"}", "ann" },
        { " {\"from\":\"bob\", \"to\" : \"ann\" } ", "ann" },
        { "{\"to\":\"\\u0061nn\"}", "ann" },
        { "{\"t\\u006f\":\"ann\"}", "ann" },
        { "{\"to\":5}", "5" },
        { "{\"to\":5.0}", "5" },
        { "{\"to\":5e0}", "5" },
        { "{\"to\":-0}", "0" },
        { "{\"to\":-1.5}", "-1.5" },
        { "{\"to\":0.1}", "0.1" },
        { "{\"to\":4179123456789}", "4179123456789" },
        { "{\"to\":\"\"}", "" },
        { "{\"to\":null}", "" },
        { "{\"to\":true}", "" },
        { "{\"to\":{\"to\":\"ann\"}}", "" },
        { "{\"to\":[\"ann\"]}", "" },
        { "{\"too\":\"ann\"}", "" },
        { "{}", "" },
        { "[\"to\",\"ann\"]", "" },
        { "\"to\"", "" },
        { "null", "" },
        /* sha1sum says so. */
        { "{\"to\":\"a b\"}", "~7dbde93504122a707f849f2c12bdd9de71b41929" },
        { "{\"to\":\"~x\"}", "~6ced5f4a569ad070ba9ceac51f71e8af3cc69329" },
        { "{\"to\":\"01234567890123456789012345678901234567890123456789012345678901234\"}",
          "~92de3a8444fe6d15268f0ba810aa43bc8b3a4ffe" },
        { "{\"to\":\"0123456789012345678901234567890123456789012345678901234567890123\"}",
          "0123456789012345678901234567890123456789012345678901234567890123" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[300], bucket[LATER_BUCKET_MAX + 1];
        struct tried tried;

        snprintf(text, sizeof text, "{\"type\":\"t\",\"payload\":%s}", rows[i].payload);
        tried = try_bytes(LATER_DOCUMENT_JOB, text, strlen(text), LATER_DOCUMENT_MAX);
        ck_assert_int_eq(tried.result, 0);
        later_document_bucket(&tried.doc, "to", bucket);
        ck_assert_str_eq(bucket, rows[i].bucket);
        tried_free(&tried);
    }
}

TEST(test_seconds)
{
    static const char timeout[] = "timeout: must be above 0 and at most 604800 seconds";
    static const char result[] = "result: must be above 0 and at most 315360000 seconds";
    static const struct wrong rows[] = {
        { "\"timeout\":0", timeout },
        { "\"timeout\":-1", timeout },
        { "\"timeout\":604800.5", timeout },
        { "\"timeout\":1e-400", timeout }, /* too small for a double: 0 */
        { "\"timeout\":null", "timeout: must be a number" },
        { "\"timeout\":\"5\"", "timeout: must be a number" },
        { "\"result\":0", result },
        { "\"result\":315360000.5", result },
        { "\"result\":true", "result: must be a number" },
        { "\"expires_at\":0",
          "expires_at: 0 is not a plausible UNIX time; for a duration use expires_in" },
        { "\"expires_at\":999999999.5",
          "expires_at: 999999999.5 is not a plausible UNIX time; for a duration use expires_in" },
        { "\"expires_at\":null", "expires_at: must be a number" },
        { "\"expires_at\":\"2030-01-01T00:00:00Z\"", "expires_at: must be a number" },
    };

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
    ck_assert_double_eq(good(with("\"timeout\":0.001")).timeout, 0.001);
    ck_assert_double_eq(good(with("\"timeout\":604800")).timeout, 604800);
    ck_assert_double_eq(good(with("\"result\":0.5")).result, 0.5);
    ck_assert_double_eq(good(with("\"result\":315360000")).result, 315360000);
    ck_assert_double_eq(good(with("\"priority\":1")).result, 0);
    ck_assert_double_eq(good(with("\"expires_at\":1e9")).expires_at, 1e9);
    ck_assert_double_eq(good(with("\"expires_at\":1763683200")).expires_at, 1763683200);
}

TEST(test_backoff)
{
    struct later_backoff backoff = good(with("\"backoff\":1.5")).backoff;

    ck_assert_uint_eq(backoff.list_count, 1); /* the same each time, without jitter */
    ck_assert_double_eq(backoff.list[0], 1.5);
    ck_assert(backoff.base < 0 && backoff.max < 0 && backoff.jitter < 0);
    backoff = good(with("\"backoff\":0")).backoff;
    ck_assert_uint_eq(backoff.list_count, 1);
    ck_assert(backoff.list[0] >= 0 && backoff.list[0] <= 0);
    backoff = good(with("\"backoff\":{\"max\":9}")).backoff;
    ck_assert_double_eq(backoff.max, 9);
    ck_assert(backoff.base < 0 && backoff.jitter < 0 && backoff.list_count == 0);
    backoff = good(with("\"backoff\":{\"max\":0,\"base\":3}")).backoff;
    ck_assert_double_eq(backoff.max, 0);
    ck_assert_double_eq(backoff.base, 3);
    backoff = good(with("\"backoff\":[0,1.5,60]")).backoff;
    ck_assert_uint_eq(backoff.list_count, 3);
    ck_assert_double_eq(backoff.list[0], 0);
    ck_assert_double_eq(backoff.list[1], 1.5);
    ck_assert_double_eq(backoff.list[2], 60);
    ck_assert(backoff.base < 0 && backoff.max < 0 && backoff.jitter < 0);
    ck_assert(good(with("\"backoff\":0")).has_backoff);
}

TEST(test_backoff_wrong)
{
    static const char object[] = "backoff: an object takes base, max, and has one of them at least";
    static const char kind[] = "backoff: must be a number, a list or an object";
    static const struct wrong rows[] = {
        { "\"backoff\":-1", "backoff: must be at least 0 seconds" },
        { "\"backoff\":null", kind },
        { "\"backoff\":true", kind },
        { "\"backoff\":\"5s\"", kind },
        { "\"backoff\":[]", "backoff: must be a list of 1 to 32 numbers (0)" },
        { "\"backoff\":[1,-1]", "backoff, in the list: must be at least 0 seconds" },
        { "\"backoff\":[1,\"2\"]", "backoff, in the list: must be a number" },
        { "\"backoff\":[null]", "backoff, in the list: must be a number" },
        { "\"backoff\":[[1]]", "backoff, in the list: must be a number" },
        { "\"backoff\":{}", object },
        { "\"backoff\":{\"jitter\":0}", object },
        { "\"backoff\":{\"base\":1,\"jitter\":0}", object },
        { "\"backoff\":{\"base\":1,\"max\":2,\"x\":3}", object },
        { "\"backoff\":{\"base\":-1}", "backoff.base: must be at least 0 seconds" },
        { "\"backoff\":{\"base\":\"1\"}", "backoff.base: must be a number" },
        { "\"backoff\":{\"base\":1,\"max\":-1}", "backoff.max: must be at least 0 seconds" },
        { "\"backoff\":{\"base\":1,\"max\":null}", "backoff.max: must be a number" },
    };

    ALL_REFUSED(LATER_DOCUMENT_JOB, rows);
}

TEST(test_backoff_list_length)
{
    char member[256] = "\"backoff\":[1";
    struct later_backoff backoff;

    for (int i = 1; i < 32; i++)
        strcat(member, ",2");
    strcat(member, "]");
    backoff = good(with(member)).backoff;
    ck_assert_uint_eq(backoff.list_count, 32);
    ck_assert_double_eq(backoff.list[31], 2);
    strcpy(member + strlen(member) - 1, ",3]");
    refused(with(member), "backoff: must be a list of 1 to 32 numbers (33)");
}

CASE("lines", NULL, NULL);

TEST(test_line)
{
    static const char queue[] = "queue: must be 1 to 64 letters, digits and _ . -";
    static const struct wrong rows[] = {
        { "\"queue\":\"\"", queue },
        { "\"queue\":\"a:b\"", queue },
        { "\"queue\":\"a\\u0000b\"", queue },
        { "\"queue\":null", "queue: must be a string" },
        { "\"queue\":5", "queue: must be a string" },
        { "\"in\":-1", "in: must be from 0 to 315360000 seconds" },
        { "\"in\":315360001", "in: must be from 0 to 315360000 seconds" },
        { "\"in\":null", "in: must be a number" },
        { "\"in\":\"5s\"", "in: must be a number" },
        { "\"at\":-1", "at: -1 is not a plausible UNIX time; for a duration use in" },
        { "\"at\":1e11", "at: 100000000000 is not a plausible UNIX time: milliseconds?" },
        { "\"at\":null", "at: must be a number" },
        { "\"at\":\"now\"", "at: must be a number" },
    };
    const char *longest = with_long("queue", 64);
    struct tried tried = try_bytes(LATER_DOCUMENT_LINE, longest, strlen(longest), 1000);

    ck_assert_int_eq(tried.result, 0);
    ck_assert_uint_eq(strlen(tried.doc.queue), 64);
    tried_free(&tried);
    longest = with_long("queue", 65);
    refused_bytes(LATER_DOCUMENT_LINE, longest, strlen(longest), "queue: longer than 64 bytes");
    ALL_REFUSED(LATER_DOCUMENT_LINE, rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        good(with(rows[i].member)); /* to a worker they are unknown members */
}

TEST(test_line_times)
{
    static const struct {
        const char *member;
        double in, at;
    } rows[] = {
        { "\"in\":0", 0, 0 },
        { "\"in\":1.5", 1.5, 0 },
        { "\"in\":315360000", LATER_DELAY_MAX, 0 },
        { "\"at\":0", 0, 0 },
        { "\"at\":1763683200.5", 0, 1763683200.5 },
        { "\"at\":99999999999", 0, 99999999999 },
        { "\"queue\":\"Q_1.x-y\"", 0, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = with(rows[i].member);
        struct tried tried = try_bytes(LATER_DOCUMENT_LINE, text, strlen(text), 1000);

        ck_assert_msg(tried.result == 0, "%s: %s", text, tried.err.text);
        ck_assert_double_eq(tried.doc.in, rows[i].in);
        ck_assert_double_eq(tried.doc.at, rows[i].at);
        tried_free(&tried);
    }
}
