/* test_document_line.c: lines of a file of jobs, read and written. */
#include "job/document_line.h"
#include "job/json.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define MAX 65536

static struct later_line line;
static struct later_error err;

static void read_line(const char *text)
{
    ck_assert_msg(later_line_parse(&line, text, strlen(text), MAX, &err) == 0, "%s: %s", text,
                  err.text);
}

static void check_document(const char *wanted, size_t len)
{
    ck_assert_uint_eq(line.item.document_len, len);
    ck_assert_int_eq(memcmp(line.item.document, wanted, len), 0);
}

/* ---- reading */

CASE("reading", NULL, NULL);

TEST(test_a_job_document)
{
    static const char text[] =
        "{\"type\":\"t\",\"id\":\"a\",\"queue\":\"q\",\"at\":1763683205,\"priority\":-3,"
        "\"unique_for\":7,\"mine\":[\"document\"]}";

    read_line(text);
    check_document(text, strlen(text));
    ck_assert_str_eq(line.id, "a");
    ck_assert_str_eq(line.queue, "q");
    ck_assert_double_eq(line.item.at, 1763683205);
    ck_assert(line.item.in == 0);
    ck_assert_int_eq(line.item.priority, -3);
    ck_assert_double_eq(line.item.unique_for, 7);
    read_line("{\"type\":\"t\",\"payload\":{\"document\":\"x\",\"state\":\"y\"}}");
    ck_assert_str_eq(line.id, "");
    ck_assert(line.item.at == 0 && line.item.in == 0);
}

/* Both forms say it alike. */
TEST(test_turns)
{
    static const char *const texts[] = {
        "{\"type\":\"t\",\"id\":\"a\",\"debounce\":0.5,\"max_wait\":5,\"throttle\":60,\"again\":"
        "true}",
        "{\"document\":{\"type\":\"t\",\"id\":\"a\"},\"debounce\":0.5,\"max_wait\":5,\"throttle\":"
        "60,"
        "\"again\":true}",
    };

    for (size_t i = 0; i < 2; i++) {
        read_line(texts[i]);
        ck_assert_double_eq(line.item.debounce, 0.5);
        ck_assert_double_eq(line.item.max_wait, 5);
        ck_assert_double_eq(line.item.throttle, 60);
        ck_assert(line.item.again);
    }
    read_line("{\"type\":\"t\",\"id\":\"a\",\"again\":false}");
    ck_assert(!line.item.again && line.item.debounce == 0);
}

/* A member beside the document goes before the one within it. */
TEST(test_a_document_within)
{
    static const char within[] = "{ \"type\":\"t\",\"id\":\"in\",\"priority\":9,\"at\":1,"
                                 "\"payload\":12345678901234567890 }";
    char text[400];

    snprintf(text, sizeof text,
             "{\"queue\":\"q\",\"id\":\"out\",\"at\":1767225600.000001,\"priority\":0,"
             "\"document\": %s }",
             within);
    read_line(text);
    check_document(within, strlen(within));
    ck_assert_str_eq(line.id, "out");
    ck_assert_str_eq(line.queue, "q");
    ck_assert_double_eq(line.item.at, 1767225600.000001);
    ck_assert_int_eq(line.item.priority, 0);
    snprintf(text, sizeof text, "{\"document\":%s,\"in\":60,\"unique_for\":2}", within);
    read_line(text);
    ck_assert_str_eq(line.id, "in");
    ck_assert_str_eq(line.queue, "");
    ck_assert_int_eq(line.item.priority, 9);
    ck_assert(line.item.at == 0); /* of the document it is a member like any other */
    ck_assert_double_eq(line.item.in, 60);
    ck_assert_double_eq(line.item.unique_for, 2);
}

/* RFC 4648, section 10: f fo foo foob, here as parts of a document. */
TEST(test_base64)
{
    read_line("{\"document_base64\":\"eyJ0eXBlIjoiZiJ9\"}");
    check_document("{\"type\":\"f\"}", 12);
    later_line_free(&line);
    read_line("{\"document_base64\":\"eyJ0eXBlIjoiZm8ifQ==\"}");
    check_document("{\"type\":\"fo\"}", 13);
    later_line_free(&line);
    read_line("{\"document_base64\":\"eyJ0eXBlIjoiZm9vIn0=\"}");
    check_document("{\"type\":\"foo\"}", 14);
    later_line_free(&line);
}

static const struct {
    const char *text, *why;
} refused[] = {
    { "{\"type\":\"t\",\"document\":\"{}\"}", "document: is a string, as `later peek`" },
    { "{\"document\":\"{\\\"type\\\":\\\"t\\\"}\"}", "document: is a string" },
    { "{\"type\":\"t\",\"state\":\"delayed\"}", "state: would be lost; `later export`" },
    { "{\"type\":\"t\",\"\\u0064ocument\":{\"type\":\"t\"}}", "document: not for a job document" },
    { "{\"document\":{\"type\":\"t\"},\"state\":\"dead\"}", "state: unknown beside a document" },
    { "{\"document\":{\"type\":\"t\"},\"payload\":1}", "payload: unknown beside a document" },
    { "{\"document\":{\"type\":\"t\"},\"type\":\"t\"}", "type: unknown beside a document" },
    { "{\"document\":{\"type\":\"t\"},\"id in\":1}", "id in: unknown beside a document" },
    { "{\"document\":{\"type\":\"t\"},\"document_base64\":\"\"}", "only one of them" },
    { "{\"document\":{\"type\":\"t\"},\"in\":1,\"at\":1763683200}", "in and at" },
    { "{\"type\":\"t\",\"in\":1,\"at\":1763683200}", "in and at: only one of them" },
    { "{\"document\":{\"type\":\"t\"},\"at\":1000000000000}", "milliseconds?" },
    { "{\"document\":{\"payload\":1}}", "document: no type" },
    { "{\"document\":[]}", "document: must be an object" },
    { "{\"document\":null}", "document: must be an object" },
    { "{\"document_base64\":7}", "document_base64: must be a string" },
    { "{\"document_base64\":\"eyJ0\\u0000\"}", "is not base64" },
    { "{\"document_base64\":\"eyJ0eXBlIjoiZiJ\"}", "is not base64" },
    { "{\"document_base64\":\"eyJ0 XBlIjoiZiJ9\"}", "is not base64" },
    { "{\"document_base64\":\"====\"}", "is not base64" },
    { "{\"document_base64\":\"\"}", "document: no document" },
    { "{\"type\":\"t\",\"debounce\":5}", "debounce: goes with an id" },
    { "{\"type\":\"t\",\"throttle\":5}", "throttle: goes with an id" },
    { "{\"type\":\"t\",\"unique_for\":5}", "unique_for: goes with an id" },
    { "{\"document\":{\"type\":\"t\"},\"again\":true}", "again: goes with an id" },
    { "{\"type\":\"t\",\"id\":\"a\",\"again\":1}", "again: must be true or false" },
    { "{\"type\":\"t\",\"id\":\"a\",\"debounce\":-1}", "debounce: must be from 0" },
    { "{\"type\":\"t\",\"id\":\"a\",\"debounce\":\"5s\"}", "debounce: must be a number" },
    { "{\"type\":\"t\",\"id\":\"a\",\"debounce\":1,\"max_wait\":0}", "max_wait: must be above 0" },
    { "{\"type\":\"t\",\"id\":\"a\",\"max_wait\":1}", "max_wait: goes with debounce" },
    { "{\"type\":\"t\",\"id\":\"a\",\"debounce\":1,\"in\":1}", "debounce and in: only one" },
    { "{\"type\":\"t\",\"id\":\"a\",\"debounce\":1,\"at\":2000000000}",
      "debounce and at: only one" },
    { "{\"type\":\"t\",\"id\":\"a\",\"throttle\":2e9}", "throttle: must be above 0 and at most" },
    { "{\"type\":\"t\",\"id\":\"a\",\"throttle\":1,\"unique_for\":1}", "throttle and unique_for" },
    { "{\"type\":\"t\",\"expires_at\":600}", "for a duration use expires_in" },
    { "{\"type\":\"t\",\"expires_in\":0}", "expires_in" },
    { "{\"type\":\"t\",\"expires_in\":1,\"expires_at\":2000000000}", "expires_at and expires_in" },
    { "{\"document\":{\"type\":\"t\",\"expires_at\":2000000000},\"expires_in\":1}",
      "expires_at and expires_in" },
    { "{\"type\":\"t\",\"expires_in\":1,\"at\":2000000000}", "at and expires_in" },
    { "{\"type\":\"t\",\"expires_in\":1,\"in\":1}", "expires_in: 1 seconds from now" },
    { "{\"document\":{\"type\":\"t\"}", "not JSON" },
    { "[\"document\"]", "not an object" },
};

TEST_EACH(test_refused, COUNT(refused))
{
    const char *text = refused[_i].text, *why = refused[_i].why;

    ck_assert_int_eq(later_line_parse(&line, text, strlen(text), MAX, &err), -1);
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_msg(strstr(err.text, why), "%s: %s", text, err.text);
}

TEST(test_too_large)
{
    char text[] = "{\"document\":{\"type\":\"t\",\"payload\":\"0123456789\"}}";

    ck_assert_int_eq(later_line_parse(&line, text, strlen(text), 34, &err), -1);
    ck_assert(strstr(err.text, "document: too large: 35 bytes, 34 allowed; push where the data is, "
                               "or raise document.max"));
    ck_assert_int_eq(later_line_parse(&line, text, strlen(text), 35, &err), 0);
}

/* ---- writing, and reading that */

static void check_back(const char *document, size_t len, bool plain)
{
    struct later_line from = { .queue = "q",
                               .item = { .id = "a\"b",
                                         .document = document,
                                         .document_len = len,
                                         .priority = -7,
                                         .at = 1767225600.123456,
                                         .throttle = 7.25,
                                         .again = true } };
    size_t written;
    char *text = later_line_build(&from, &written, &err);

    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(strlen(text), written);
    ck_assert(!strchr(text, '\n'));
    ck_assert_msg((strstr(text, "\"document\":") != NULL) == plain, "%s", text);
    ck_assert_msg(later_line_parse(&line, text, written, MAX, &err) == 0, "%s: %s", text, err.text);
    check_document(document, len);
    ck_assert_str_eq(line.id, "a\"b");
    ck_assert_str_eq(line.queue, "q");
    ck_assert_int_eq(line.item.priority, -7);
    ck_assert_double_eq(line.item.at, 1767225600.123456);
    ck_assert_double_eq(line.item.throttle, 7.25);
    ck_assert_double_eq(line.item.unique_for, 0);
    ck_assert(line.item.again);
    later_line_free(&line);
    free(text);
}

static void check_text_back(const char *document, bool plain)
{
    check_back(document, strlen(document), plain);
}

CASE("writing", NULL, NULL);

TEST(test_there_and_back)
{
    char deep[400] = "{\"type\":\"t\",\"payload\":";

    check_text_back("{\"type\":\"t\"}", true);
    check_text_back("{\"id\":\"x\", \"type\" : \"t\",\"payload\":[1.50,\"\\u00e9\xC3\xA9\"]}",
                    true);
    check_text_back("{\"type\":\"t\",\n\"payload\":1}", false);
    check_text_back(" {\"type\":\"t\"}", false);
    check_text_back("{\"type\":\"t\"} ", false);
    for (int i = 1; i < LATER_JSON_DEPTH - 1; i++)
        strcat(deep, "[");
    for (int i = 1; i < LATER_JSON_DEPTH - 1; i++)
        strcat(deep, "]");
    check_text_back(strcat(deep, "}"), true);
}

/* One level more is the most that a document may have; a line of it would have one too many. */
TEST(test_deepest)
{
    char deep[400] = "{\"type\":\"t\",\"payload\":";

    for (int i = 1; i < LATER_JSON_DEPTH; i++)
        strcat(deep, "[");
    for (int i = 1; i < LATER_JSON_DEPTH; i++)
        strcat(deep, "]");
    check_text_back(strcat(deep, "}"), false);
}

TEST(test_no_document)
{
    struct later_line from = { .item = { .document = "\xFF{", .document_len = 2 } };
    size_t len;

    ck_assert_ptr_null(later_line_build(&from, &len, &err));
    ck_assert_int_eq(err.code, LATER_E_DATA);
    ck_assert_mem_eq(err.text, "document: ", 10);
}
