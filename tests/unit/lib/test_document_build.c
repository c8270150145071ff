/* test_document_build.c: documents made from their parts; quoted text; ids. */
#include "tests/unit/document_try.h"
#include "tests/unit/unit.h"

#include "job/document_text.h"
#include "later/client.h"

#include <ctype.h>
#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define PAYLOAD(json) .payload = (json), .payload_len = strlen(json)

/* Builds what must be good, and compares it. */
static void builds(struct later_new_job job, const char *wanted)
{
    struct later_error err;
    size_t len = 0;
    char *bytes = later_document_build(&job, LATER_DOCUMENT_MAX, &len, &err);

    ck_assert_msg(bytes != NULL, "refused: %s", err.text);
    ck_assert_str_eq(bytes, wanted);
    ck_assert_uint_eq(len, strlen(wanted));
    free(bytes);
}

/* Builds what must be refused in these words. */
static void fails(struct later_new_job job, const char *words)
{
    struct later_error err;
    size_t len = 0;
    char *bytes = later_document_build(&job, LATER_DOCUMENT_MAX, &len, &err);

    ck_assert_msg(bytes == NULL, "built, but must be refused with %s: %s", words, bytes);
    ck_assert_str_eq(err.text, words);
    ck_assert_int_eq(err.code, LATER_E_DATA);
}

#define BUILDS(wanted, ...) builds((struct later_new_job){ __VA_ARGS__ }, wanted)
#define FAILS(words, ...)   fails((struct later_new_job){ __VA_ARGS__ }, words)

CASE("build", NULL, NULL);

TEST(test_members)
{
    BUILDS("{\"type\":\"a.b\"}", .type = "a.b");
    BUILDS("{\"type\":\"t\",\"payload\":null}", .type = "t", PAYLOAD("null"));
    BUILDS("{\"type\":\"t\",\"id\":\"i-1\",\"priority\":-5,\"max_attempts\":1000000,"
           "\"timeout\":0.1,\"backoff\":{\"base\": 1},\"expires_at\":1763683200.25,\"result\":60,"
           "\"trace\":\"caf\xC3\xA9\",\"description\":\"tea\",\"payload\":[1]}",
           .type = "t", .id = "i-1", .trace = "caf\xC3\xA9", .description = "tea", .priority = -5,
           .max_attempts = 1000000, .timeout = 0.1, .expires_at = 1763683200.25, .result = 60,
           .backoff = "{\"base\": 1}", PAYLOAD("[1]"));
    BUILDS("{\"type\":\"t\",\"id\":\"\\\"\\\\\"}", .type = "t", .id = "\"\\");
}

TEST(test_payload_is_unchanged)
{
    static const char *const payloads[] = { "[]",
                                            "{}",
                                            "12345678901234567890",
                                            "-0",
                                            "1E5",
                                            "\"\\/\"",
                                            "{ \"b\":1,\n  \"a\" :  0.10 }",
                                            " [ ] ",
                                            "\t\"caf\xC3\xA9\"\r\n" };

    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        char wanted[200];

        snprintf(wanted, sizeof wanted, "{\"type\":\"t\",\"payload\":%s}", payloads[i]);
        BUILDS(wanted, .type = "t", PAYLOAD(payloads[i]));
    }
}

TEST(test_text)
{
    BUILDS("{\"type\":\"t\",\"payload\":\"\"}", .type = "t", .text = true, PAYLOAD(""));
    BUILDS("{\"type\":\"t\",\"payload\":\"a \\\"b\\\" \\\\ \\u000a\\u0009\xE2\x82\xAC\"}",
           .type = "t", .text = true, PAYLOAD("a \"b\" \\ \n\t\xE2\x82\xAC"));
    BUILDS("{\"type\":\"t\",\"payload\":\"a\\u0000b\"}", .type = "t", .text = true,
           .payload = "a\0b", .payload_len = 3);
    BUILDS("{\"type\":\"t\",\"payload\":\"1,\\\"id\\\":5\"}", .type = "t", .text = true,
           PAYLOAD("1,\"id\":5"));
    FAILS("payload: bad UTF-8 at byte 4", .type = "t", .text = true, PAYLOAD("abc\xFF"));
    FAILS("payload: bad UTF-8 at byte 1", .type = "t", .text = true, PAYLOAD("\xE2\x82"));
}

/* A payload must be one JSON value: nothing can be smuggled in after it. */
TEST(test_payload_must_be_json)
{
    FAILS("payload: not JSON: more after its end at byte 2", .type = "t",
          PAYLOAD("1,\"id\":\"x\""));
    FAILS("payload: not JSON: more after its end at byte 2", .type = "t", PAYLOAD("1,\"a\":2"));
    FAILS("payload: not JSON: more after its end at byte 2", .type = "t", PAYLOAD("1}"));
    FAILS("payload: not JSON: more after its end at byte 3", .type = "t", PAYLOAD("1 2"));
    FAILS("payload: not JSON: more after its end at byte 3", .type = "t", PAYLOAD("{}}{"));
    FAILS("payload: not JSON: more after its end at byte 4", .type = "t", PAYLOAD("\"a\":1"));
    FAILS("payload: not JSON: more after its end at byte 3", .type = "t",
          PAYLOAD("1 ,\"payload\":1"));
    FAILS("payload: not JSON: ends too early, at byte 0", .type = "t", PAYLOAD(""));
    FAILS("payload: not JSON: ends too early, at byte 2", .type = "t", PAYLOAD("  "));
    FAILS("payload: not JSON: ends too early, at byte 1", .type = "t", PAYLOAD("["));
    FAILS("payload: not JSON: invalid token at byte 1", .type = "t", PAYLOAD("hello"));
    FAILS("payload: not JSON: NUL byte at byte 2", .type = "t", .payload = "1", .payload_len = 2);
    FAILS("payload: number too large at byte 1", .type = "t", PAYLOAD("1e400"));
    FAILS("payload: duplicate member \"a\"", .type = "t", PAYLOAD("{\"a\":1,\"a\":2}"));
    FAILS("payload: not JSON: bad UTF-8 at byte 2", .type = "t", PAYLOAD("\"\xFF\""));
}

TEST(test_backoff_must_be_json)
{
    FAILS("backoff: not JSON: more after its end at byte 2", .type = "t",
          .backoff = "1,\"priority\":5");
    FAILS("backoff: not JSON: ends too early, at byte 0", .type = "t", .backoff = "");
    FAILS("backoff: must be a number, a list or an object", .type = "t", .backoff = "\"5\"");
}

/* A part that a worker would refuse is refused now, and it is not the payload that is blamed. */
TEST(test_parts_are_checked)
{
    FAILS("no type", .id = "i");
    FAILS("no type", .priority = 0);
    FAILS("type: empty", .type = "");
    FAILS("type: must consist of letters, digits and _ . : -", .type = "a\",\"id\":\"b");
    FAILS("type: bad UTF-8 at byte 2", .type = "a\xFF");
    FAILS("id: empty", .type = "t", .id = "", PAYLOAD("[1]"));
    FAILS("id: must be printable ASCII without space", .type = "t", .id = "a b", PAYLOAD("[1]"));
    FAILS("id: bad UTF-8 at byte 1", .type = "t", .id = "\x80");
    FAILS("trace: must have no control bytes (10)", .type = "t", .trace = "\n");
    FAILS("priority: must be an integer from -100 to 100", .type = "t", .priority = 101);
    FAILS("max_attempts: must be an integer from 1 to 1000000", .type = "t",
          .max_attempts = UINT32_MAX);
    FAILS("timeout: must be above 0 and at most 604800 seconds", .type = "t", .timeout = -1);
    FAILS("timeout: must be a number", .type = "t", .timeout = NAN);
    FAILS("expires_at: must be a number", .type = "t", .expires_at = (double)INFINITY);
    FAILS("expires_at: 600 is not a plausible UNIX time; for a duration use expires_in",
          .type = "t", .expires_at = 600);
}

TEST(test_size)
{
    struct later_new_job job = { .type = "t", PAYLOAD("\"xxxxx\"") };
    struct later_error err;
    size_t len;
    char *bytes = later_document_build(&job, 30, &len, &err);

    ck_assert_msg(bytes != NULL, "%s", err.text); /* {"type":"t","payload":"xxxxx"} */
    ck_assert_uint_eq(len, 30);
    free(bytes);
    ck_assert_ptr_null(later_document_build(&job, 29, &len, &err));
    ck_assert_str_eq(err.text, "too large: t: a document of 30 bytes, 29 allowed; push where the "
                               "data is, or raise document.max");
    ck_assert_ptr_null(later_document_build(&job, 6, &len, &err));
    ck_assert_str_eq(err.text, "too large: t: a payload of 7 bytes, 6 allowed; push where the data "
                               "is, or raise document.max");
}

TEST(test_large)
{
    size_t len, payload_len = LATER_DOCUMENT_MAX - 200;
    struct later_new_job job = { .type = "t", .text = true, .payload_len = payload_len };
    struct later_error err;
    char *text = malloc(payload_len), *bytes;

    ck_assert_ptr_nonnull(text);
    memset(text, 'x', payload_len);
    job.payload = text;
    bytes = later_document_build(&job, LATER_DOCUMENT_MAX, &len, &err);
    ck_assert_msg(bytes != NULL, "%s", err.text);
    ck_assert_uint_eq(len, payload_len + strlen("{\"type\":\"t\",\"payload\":\"\"}"));
    free(bytes);
    memset(text, '\n', payload_len); /* six bytes each */
    ck_assert_ptr_null(later_document_build(&job, LATER_DOCUMENT_MAX, &len, &err));
    ck_assert_int_eq(err.code, LATER_E_DATA);
    free(text);
}

TEST(test_depth)
{
    char deep[300];

    memset(deep, '[', 128);
    memset(deep + 128, ']', 128);
    deep[256] = '\0';
    FAILS("nested deeper than 128", .type = "t", PAYLOAD(deep)); /* the document is one more */
    memmove(deep + 127, deep + 128, 127);
    deep[254] = '\0';
    ck_assert_uint_eq(strspn(deep, "["), 127);
    {
        struct later_new_job job = { .type = "t", PAYLOAD(deep) };
        struct later_error err;
        size_t len;
        char *bytes = later_document_build(&job, 1000, &len, &err);

        ck_assert_msg(bytes != NULL, "%s", err.text);
        free(bytes);
    }
}

/* ---- numbers */

static void check_numbers(void)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        { 1, "1" },
        { 0.1, "0.1" },
        { -1.5, "-1.5" },
        { 300, "300" },
        { 0.25, "0.25" },
        { 1763683200.123456, "1763683200.123456" },
        { 604800, "604800" },
        { 1e100, "1e+100" },
        { 1e-7, "1e-07" },
        { 0.30000000000000004, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[LATER_NUMBER_SIZE];

        ck_assert_uint_eq(later_document_number(text, rows[i].number), strlen(rows[i].text));
        ck_assert_str_eq(text, rows[i].text);
    }
}

CASE("numbers", NULL, NULL);

TEST(test_numbers)
{
    static const double hard[] = {
        DBL_MIN,     DBL_MAX,    -DBL_MAX,           5e-324,
        DBL_EPSILON, 1e15 + 0.3, 9007199254740993.0, 2.2250738585072011e-308
    };

    check_numbers();
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        char text[LATER_NUMBER_SIZE];
        json_t *value;

        value = json_loadb(text, later_document_number(text, hard[i]),
                           JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
        ck_assert_msg(json_is_real(value), "%s is no JSON", text);
        ck_assert_double_eq(json_real_value(value), hard[i]);
        json_decref(value);
    }
}

/* A locale with another decimal point, if the machine has one. */
static const char *comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8" };
    const char *found = NULL;

    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_NUMERIC, names[i]) && strcmp(localeconv()->decimal_point, ".") != 0)
            found = names[i];
    }
    setlocale(LC_NUMERIC, "C");
    return found;
}

TEST_EACH(test_numbers_in_a_locale, comma_locale() ? 1 : 0)
{
    char text[10];

    ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, comma_locale()));
    snprintf(text, sizeof text, "%.1f", 0.5);
    ck_assert_str_ne(text, "0.5"); /* the locale rules here */
    check_numbers();
    BUILDS("{\"type\":\"t\",\"timeout\":0.5}", .type = "t", .timeout = 0.5);
    ck_assert_double_eq(good("{\"type\":\"t\",\"timeout\":2.5}").timeout, 2.5);
}

/* ---- ids */

static int compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

CASE("ids", NULL, NULL);

/* Redis keeps a number in a set as one only if it is spelled as it would spell it. */
TEST(test_new_numbers)
{
    enum { COUNT = 10000, LENGTH = LATER_NEW_NUMBER_SIZE - 1 };
    static char numbers[COUNT][LATER_NEW_NUMBER_SIZE];
    bool firsts[10] = { false };
    char id[LATER_NEW_ID_SIZE];

    for (int i = 0; i < COUNT; i++) {
        later_document_chance(numbers[i], i % 2 ? later_document_id(id) : 0);
        ck_assert_uint_eq(strspn(numbers[i], "0123456789"), LENGTH);
        ck_assert_uint_eq(strlen(numbers[i]), LENGTH);
        firsts[numbers[i][0] - '0'] = true;
    }
    for (int digit = 0; digit < 10; digit++)
        ck_assert_int_eq(firsts[digit], digit > 0);
    qsort(numbers, COUNT, sizeof *numbers, compare);
    for (int i = 1; i < COUNT; i++)
        ck_assert_str_ne(numbers[i - 1], numbers[i]);
}

TEST(test_new_ids)
{
    enum { COUNT = 10000, LENGTH = LATER_NEW_ID_SIZE - 1 };
    static char ids[COUNT][LATER_NEW_ID_SIZE];
    static bool seen[LENGTH][128];

    for (int i = 0; i < COUNT; i++) {
        later_document_id(ids[i]);
        ck_assert_uint_eq(strlen(ids[i]), LENGTH);
        for (int c = 0; c < LENGTH; c++) {
            ck_assert_int_ne(isalnum((unsigned char)ids[i][c]), 0);
            seen[c][(unsigned char)ids[i][c]] = true;
        }
    }
    for (int c = 0; c < LENGTH; c++) { /* each letter and digit in each place */
        size_t kinds = 0;

        for (size_t k = 0; k < sizeof seen[c]; k++)
            kinds += seen[c][k];
        ck_assert_uint_eq(kinds, 62);
    }
    qsort(ids, COUNT, sizeof *ids, compare);
    for (int i = 1; i < COUNT; i++)
        ck_assert_str_ne(ids[i - 1], ids[i]);
}
