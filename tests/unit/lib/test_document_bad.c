/* test_document_bad.c: what is not a job document is refused with a clear message, and never
 * crashes. */
#include "tests/unit/document_try.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdio.h>

CASE("refusals", NULL, NULL);

TEST(test_no_document)
{
    refused("", "no document");
    refused(" \n", "not JSON: ends too early, at byte 2");
}

TEST(test_not_an_object)
{
    static const char *const others[] = { "[]",   "[{\"type\":\"t\"}]", "5",
                                          "-0.5", "\"type\"",           "true",
                                          "null", " {\"a\":1} " };

    for (size_t i = 0; i + 1 < sizeof others / sizeof *others; i++)
        refused(others[i], "not an object");
    refused(others[7], "no type"); /* so the others are refused for their kind */
}

TEST(test_too_large)
{
    static const char text[] = "{\"type\":\"t\"}   ";
    size_t len = strlen(text);
    struct tried tried = try_bytes(LATER_DOCUMENT_JOB, text, len, len);

    ck_assert_int_eq(tried.result, 0);
    tried_free(&tried);
    tried = try_bytes(LATER_DOCUMENT_JOB, text, len, len - 1);
    ck_assert_int_eq(tried.result, -1);
    ck_assert_str_eq(
        tried.err.text,
        "too large: 15 bytes, 14 allowed; push where the data is, or raise document.max");
    ck_assert_int_eq(tried.err.code, LATER_E_DATA);
    tried_free(&tried);
}

TEST(test_not_json)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        { "{", "not JSON: ends too early, at byte 1" },
        { "{\"type\":\"t\"", "not JSON: ends too early, at byte 11" },
        { "{\"type\":\"t", "not JSON: ends too early, at byte 10" },
        { "{\"type\":\"t\"}}", "not JSON: more after its end at byte 13" },
        { "{\"type\":\"t\"} {}", "not JSON: more after its end at byte 14" },
        { "{\"type\":\"t\",}", "not JSON: string or '}' expected at byte 13" },
        { "{type:\"t\"}", "not JSON: string or '}' expected at byte 2" },
        { "{'type':\"t\"}", "not JSON: string or '}' expected at byte 2" },
        { "{\"type\" \"t\"}", "not JSON: ':' expected at byte 9" },
        { "{\"type\":\"t\" \"a\":1}", "not JSON: '}' expected at byte 13" },
        { "{\"type\":t}", "not JSON: invalid token at byte 9" },
        { "{\"a\":NaN}", "not JSON: invalid token at byte 6" },
        { "{\"a\":-Infinity}", "not JSON: invalid token at byte 7" },
        { "{\"a\":01}", "not JSON: invalid token at byte 7" },
        { "{\"a\":+1}", "not JSON: invalid token at byte 6" },
        { "{\"a\":.5}", "not JSON: invalid token at byte 6" },
        { "{\"a\":1.}", "not JSON: invalid token at byte 8" },
        { "{\"a\":0x10}", "not JSON: '}' expected at byte 7" },
        { "{\"a\":[1,]}", "not JSON: unexpected token at byte 9" },
        { "{\"a\":[1}", "not JSON: ']' expected at byte 8" },
        { "{} // end", "not JSON: more after its end at byte 4" },
        { "{\"a\":\"\\x\"}", "not JSON: invalid escape at byte 8" },
        { "{\"a\":\"\\u12g4\"}", "not JSON: invalid escape at byte 11" },
        { "{\"a\":\"b\nc\"}", "not JSON: unexpected newline at byte 8" },
        { "{\"a\":\"b\tc\"}", "not JSON: control character 0x9 at byte 8" },
        { "\xEF\xBB\xBF{\"type\":\"t\"}", "not JSON: invalid token at byte 1" },
        { "{\"a\":\"\xFF\"}", "not JSON: bad UTF-8 at byte 7" },
        { "{\"a\":\"\xC0\xAF\"}", "not JSON: bad UTF-8 at byte 7" },
        { "{\"a\":\"\xE2\x82\"}", "not JSON: bad UTF-8 at byte 7" },
        { "{\"a\":\"\xED\xA0\x80\"}", "not JSON: bad UTF-8 at byte 7" },
        { "{\"a\":\"\xF4\x90\x80\x80\"}", "not JSON: bad UTF-8 at byte 7" },
        { "{\"\xFF\":1}", "not JSON: bad UTF-8 at byte 3" },
        { "{\"a\":\"\xE2\x82", "not JSON: bad UTF-8 at byte 7" },
        { "{\"a\":\"\\ud800\"}", "not JSON: half a surrogate pair at byte 7" },
        { "{\"a\":\"\\udc00\"}", "not JSON: half a surrogate pair at byte 7" },
        { "{\"a\":\"\\ud800\\u0041\"}", "not JSON: half a surrogate pair at byte 7" },
        { "{\"a\":1e400}", "number too large at byte 6" },
        { "{\"a\":[-1e400]}", "number too large at byte 7" },
        { "{\"\\u0000\":1}", "\\u0000 in the name of a member at byte 3" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(rows[i].text, rows[i].words);
}

/* jansson 2.14 drops a NUL byte after a number or a word. We do not. */
TEST(test_nul_bytes)
{
    static const char text[] = "{\"type\":\"t\",\"payload\":[true,\"x\",{\"a\":1}]}";
    size_t len = strlen(text);
    char bytes[sizeof text], words[64];

    for (size_t at = 0; at <= len; at++) {
        memcpy(bytes, text, at);
        bytes[at] = '\0';
        memcpy(bytes + at + 1, text + at, len - at);
        snprintf(words, sizeof words, "not JSON: NUL byte at byte %zu", at + 1);
        refused_bytes(LATER_DOCUMENT_JOB, bytes, len + 1, words);
    }
}

TEST(test_duplicates)
{
    char text[4096], words[200];

    refused("{\"id\":\"a\",\"id\":\"b\"}", "duplicate member \"id\"");
    refused("{\"type\":\"t\",\"x\":1 , \"type\" :\"t\"}", "duplicate member \"type\"");
    refused("{\"\":1,\"\":2}", "duplicate member \"\"");
    refused("{\"payload\":{\"a\":1,\"a\":1},\"type\":\"t\"}", "duplicate member \"a\"");
    refused("{\"payload\":1,\"p\\u0061yload\":2}", "duplicate member \"p\\u0061yload\"");
    refused("{\"a\\\"\\\\\\\"\":1,\"a\\\"\\\\\\\"\":2}", "duplicate member \"a\\\"\\\\\\\"\"");
    refused("{\"\\\\\":1,\"\\\\\":2}", "duplicate member \"\\\\\"");
    /* no more of a long name than 64 bytes, ending with a whole character */
    snprintf(text, sizeof text, "{\"%01000d\":1,\"%01000d\":2}", 0, 0);
    snprintf(words, sizeof words, "duplicate member \"%064d…\"", 0);
    refused(text, words);
    snprintf(text, sizeof text, "{\"%063d\xC3\xA9\":1,\"%063d\xC3\xA9\":2}", 0, 0);
    snprintf(words, sizeof words, "duplicate member \"%063d…\"", 0);
    refused(text, words);
}

/* `inner` nested in brackets, as a payload: levels counts them and the document. */
static const char *nested(int levels, const char *open, const char *inner, const char *close)
{
    static char text[1 << 20];
    char *to = stpcpy(text, "{\"type\":\"t\",\"payload\":");

    for (int i = 1; i < levels; i++)
        to = stpcpy(to, open);
    to = stpcpy(to, inner);
    for (int i = 1; i < levels; i++)
        to = stpcpy(to, close);
    strcpy(to, "}");
    return text;
}

TEST(test_depth)
{
    char *brackets = malloc(LATER_DOCUMENT_MAX + 1);

    ck_assert_ptr_nonnull(brackets);
    good(nested(128, "[", "1", "]"));
    good(nested(128, "{\"a\":", "1", "}"));
    good(nested(128, "[", "\"[[{{\\\"[[\"", "]"));
    good("{\"a\":[[],[],[],{},{}],\"type\":\"t\",\"b\":\"[[[[\\\\\"}");
    refused(nested(129, "[", "1", "]"), "nested deeper than 128");
    refused(nested(129, "{\"a\":", "1", "}"), "nested deeper than 128");
    refused(nested(128, "[", "{}", "]"), "nested deeper than 128");
    refused(nested(10000, "[", "1", "]"), "nested deeper than 128");
    memset(brackets, '[', LATER_DOCUMENT_MAX);
    brackets[LATER_DOCUMENT_MAX] = '\0';
    refused(brackets, "nested deeper than 128");
    memset(brackets, ']', LATER_DOCUMENT_MAX);
    refused(brackets, "not JSON: unexpected token at byte 1");
    free(brackets);
}

/* Wide, not deep: more than 128 brackets beside each other. */
TEST(test_wide)
{
    char text[4096] = "{\"type\":\"t\",\"payload\":[[]";
    struct later_document doc;

    for (int i = 0; i < 500; i++)
        strcat(text, ",{}");
    strcat(text, "]}");
    doc = good(text);
    ck_assert_uint_eq(doc.payload_len, 1504);
}

/* ---- mutations of good documents */

static const char *const seeds[] = {
    "{\"type\":\"mail.send\",\"payload\":{\"to\":\"a@b.c\",\"n\":[1,2.5,-0,1E5]},\"id\":\"x-1\"}",
    "{\"payload\":\"caf\xC3\xA9 \\u00e9 \\/ \\ud83d\\ude00\",\"type\":\"t\",\"priority\":-5}",
    " {\"type\":\"t\", \"backoff\":{\"base\":1,\"max\":60}, \"timeout\":5, \"payload\" : [] } ",
    "{\"type\":\"t\",\"backoff\":[1,2,3],\"max_attempts\":7,\"p\\u0061yload\":12345678901234567}",
    "{\"type\":\"t\",\"trace\":\"00-1\",\"expires_at\":1.8e9,\"a\":{\"payload\":{}},\"b\":[[]]}",
};

static uint32_t seed = 20261121;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* One to four changes: a byte replaced, taken out or put in, or the end cut off. */
static size_t mutate(char *bytes, size_t len)
{
    static const char alphabet[] = "{}[]\":,\\u0 \n1e-.payload\x80\xC3\xE2\xFF\0";

    for (uint32_t changes = 1 + draw(4); changes > 0 && len > 1; changes--) {
        size_t at = draw((uint32_t)len);
        char c = alphabet[draw(sizeof alphabet)];

        switch (draw(8)) {
        case 0:
            len = at + 1;
            break;
        case 1:
        case 2:
            for (len--; at < len; at++)
                bytes[at] = bytes[at + 1];
            break;
        case 3:
        case 4:
            for (size_t to = len++; to > at; to--)
                bytes[to] = bytes[to - 1];
            bytes[at] = c;
            break;
        default:
            bytes[at] = c;
            break;
        }
    }
    return len;
}

/* What was taken must be an object to jansson, and its payload the one jansson sees. */
static void check_taken(const struct tried *tried, size_t len)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
    json_t *root = json_loadb(tried->bytes, len, flags, NULL);
    json_t *payload =
        json_loadb(tried->doc.payload, tried->doc.payload_len, flags | JSON_DECODE_ANY, NULL);
    json_t *wanted = json_object_get(root, "payload");
    char last = tried->doc.payload[tried->doc.payload_len - 1];

    ck_assert(json_is_object(root) && !memchr(tried->bytes, '\0', len));
    ck_assert_ptr_nonnull(payload);
    ck_assert(wanted ? json_equal(payload, wanted) : json_is_null(payload));
    ck_assert(!strchr(" \n\r\t", tried->doc.payload[0]) && !strchr(" \n\r\t", last));
    ck_assert_str_eq(tried->doc.type, json_string_value(json_object_get(root, "type")));
    json_decref(payload);
    json_decref(root);
}

CASE("mutations", NULL, NULL);

TEST(test_mutations)
{
    int taken = 0, refusals = 0;

    for (int round = 0; refusals < 500 || round < 5000; round++) {
        const char *from = seeds[round % (int)(sizeof seeds / sizeof *seeds)];
        char bytes[512];
        struct tried tried;
        size_t len = strlen(from);

        memcpy(bytes, from, len);
        len = mutate(bytes, len);
        tried = try_bytes(round % 2 ? LATER_DOCUMENT_JOB : LATER_DOCUMENT_LINE, bytes, len, 1000);
        if (tried.result == 0) {
            check_taken(&tried, len);
            taken++;
        } else {
            ck_assert_int_eq(tried.err.code, LATER_E_DATA);
            ck_assert_uint_gt(strlen(tried.err.text), 0);
            refusals++;
        }
        tried_free(&tried);
    }
    ck_assert_int_gt(taken, 100); /* otherwise the check above tests nothing */
}

TEST(test_every_beginning)
{
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        const char *end = strrchr(seeds[i], '}');

        for (size_t len = 0; len <= (size_t)(end - seeds[i]); len++) {
            struct tried tried = try_bytes(LATER_DOCUMENT_JOB, seeds[i], len, 1000);

            ck_assert_msg(tried.result == -1, "%.*s", (int)len, seeds[i]);
            tried_free(&tried);
        }
        good(seeds[i]);
    }
}
