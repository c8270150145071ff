/* test_document_payload.c: the payload's bytes, as they were pushed. */
#include "tests/unit/document_try.h"
#include "tests/unit/unit.h"

#include <stdio.h>

/* This document's payload is `wanted`, and lies within its bytes. */
static void payload_of(const char *text, const char *wanted)
{
    struct tried tried = try_bytes(LATER_DOCUMENT_JOB, text, strlen(text), LATER_DOCUMENT_MAX);

    ck_assert_msg(tried.result == 0, "refused: %s: %s", text, tried.err.text);
    ck_assert_msg(tried.doc.payload_len == strlen(wanted) &&
                      memcmp(tried.doc.payload, wanted, strlen(wanted)) == 0,
                  "%s: payload is %.*s", text, (int)tried.doc.payload_len, tried.doc.payload);
    ck_assert(tried.doc.payload >= tried.bytes);
    ck_assert(tried.doc.payload + tried.doc.payload_len <= tried.bytes + strlen(text));
    tried_free(&tried);
}

static const char *const values[] = {
    "[]",
    "{}",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "0.1",
    "-1.50",
    "1E5",
    "1e+05",
    "1e-400",
    "12345678901234567890",
    "123456789012345678901234567890.10",
    "\"\"",
    "\" \"",
    "\"a\\/b\"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\\\\\\"\"",
    "\"}]{[,:\"",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"",
    "[ 1,  2 ]",
    "{ \"a\" :  [ ] , \"b\":{\"c\" : \"}\" } }",
    "[\"]\",[\"[\"],{\"}\":\"{\"}]",
    "\"\\\"payload\\\":1\"",
    "{\"payload\":1}",
    "[{\"payload\":[\"payload\"]}]",
    "\"payload\"",
    "\"type\"",
};

#define VALUES (sizeof values / sizeof *values)

/* Puts the value into a pattern with one %s. */
static void in_pattern(const char *pattern, const char *value)
{
    char text[1024];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, pattern, value);
#pragma GCC diagnostic pop
    payload_of(text, value);
}

TEST(test_every_value_everywhere)
{
    static const char *const patterns[] = {
        "{\"type\":\"t\",\"payload\":%s}",
        "{\"payload\":%s,\"type\":\"t\"}",
        "{\"id\":\"i\",\"payload\":%s,\"type\":\"t\"}",
        "{\"type\":\"t\",\"payload\": %s }",
        "{\"type\":\"t\",\"payload\"\t:\r\n%s\n\t}\n",
        " \n { \"a\" : [ { } , \"\\\"\" ] , \"payload\" : %s , \"type\" : \"t\" } \r\n",
        "{\"payloads\":1,\"payloaD\":2,\"payload\":%s,\"type\":\"t\"}",
        "{\"a\":{\"payload\":7},\"b\":[{\"payload\":8}],\"payload\":%s,\"type\":\"t\"}",
        "{\"a\":\"\\\"payload\\\":9,\",\"payload\":%s,\"type\":\"t\"}",
        "{\"a\":\"\\\\\",\"payload\":%s,\"b\":\"payload\",\"type\":\"t\"}",
        "{\"a\":1,\"b\":-2.5e7,\"c\":true,\"d\":null,\"payload\":%s,\"type\":\"t\"}",
        "{\"p\\u0061yload\":%s,\"type\":\"t\"}",
        "{\"\\u0070\\u0061\\u0079\\u006C\\u006f\\u0061\\u0064\" : %s,\"type\":\"t\"}",
        "{\"\\u0070ay\":1,\"a\\u0062\":2,\"type\":\"t\",\"\\u0070ayload\" : %s}",
    };

    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        for (size_t v = 0; v < VALUES; v++)
            in_pattern(patterns[p], values[v]);
    }
}

TEST(test_none)
{
    static const char *const rows[] = {
        "{\"type\":\"t\"}",
        " { \"type\" : \"t\" } ",
        "{\"type\":\"t\",\"a\":{\"payload\":1}}",
        "{\"type\":\"t\",\"a\":[{\"payload\":1},{\"payload\":2}]}",
        "{\"type\":\"t\",\"a\":\"\\\"payload\\\":1\"}",
        "{\"type\":\"t\",\"Payload\":1,\"payload \":2,\" payload\":3,\"payloa\":4,\"payloadd\":5}",
        "{\"type\":\"t\",\"payl\\u006fa\":1,\"payload\\n\":2,\"p\\u0061yloads\":3,\"\\\"pay\":4}",
        "{\"type\":\"payload\",\"\":\"payload\"}",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct later_document doc = good(rows[i]);

        ck_assert_msg(doc.payload_len == 4, "%s", rows[i]);
        ck_assert_mem_eq(doc.payload, "null", 4);
    }
}

/* The name of a member that is written with as many escapes as can be, and longer ones. */
TEST(test_long_names)
{
    char text[4096];

    snprintf(text, sizeof text, "{\"type\":\"t\",\"%0500d\":1,\"\\u0070%0500d\":2,\"payload\":3}",
             0, 0);
    payload_of(text, "3");
}

TEST(test_large)
{
    size_t len = LATER_DOCUMENT_MAX, head = strlen("{\"type\":\"t\",\"payload\":\"");
    char *text = malloc(len + 1);
    struct tried tried;

    ck_assert_ptr_nonnull(text);
    memset(text, 'x', len);
    memcpy(text, "{\"type\":\"t\",\"payload\":\"", head);
    memcpy(text + len - 2, "\"}", 3);
    tried = try_bytes(LATER_DOCUMENT_JOB, text, len, LATER_DOCUMENT_MAX);
    ck_assert_int_eq(tried.result, 0);
    ck_assert_uint_eq(tried.doc.payload_len, len - head);
    ck_assert_ptr_eq(tried.doc.payload, tried.bytes + head - 1);
    tried_free(&tried);
    free(text);
}
