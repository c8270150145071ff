/* test_document_text.c: any bytes become a JSON string. */
#include "job/document.h"
#include "tests/unit/unit.h"

#include "job/document_text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define BAD "\xEF\xBF\xBD" /* U+FFFD */

/* Quotes bytes of exactly this length. The caller frees. */
static char *quote(const char *bytes, size_t len)
{
    char *exact = malloc(len ? len : 1), *quoted;

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, len);
    quoted = later_document_quote(exact, len);
    ck_assert_ptr_nonnull(quoted);
    free(exact);
    return quoted;
}

TEST(test_quote)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        { "", "\"\"" },
        { "smtp: no route", "\"smtp: no route\"" },
        { "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
        { "\n\t\r\b\x1f\x7f", "\"\\u000a\\u0009\\u000d\\u0008\\u001f\\u007f\"" },
        { "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
          "\"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"" },
        { "a\xFF"
          "b",
          "\"a" BAD "b\"" },
        { "\x80", "\"" BAD "\"" },
        { "\xC3", "\"" BAD "\"" },
        { "\xC3\"", "\"" BAD "\\\"\"" },
        { "\xE2\x82", "\"" BAD BAD "\"" },
        { "\xE2\x82x", "\"" BAD BAD "x\"" },
        { "\xC0\x80", "\"" BAD BAD "\"" },                 /* NUL, overlong */
        { "\xE0\x9F\xBF", "\"" BAD BAD BAD "\"" },         /* overlong */
        { "\xED\xA0\x80", "\"" BAD BAD BAD "\"" },         /* a surrogate */
        { "\xF4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"" }, /* beyond U+10FFFF */
        { "\xF5\x80\x80\x80", "\"" BAD BAD BAD BAD "\"" },
    };
    char *quoted;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        quoted = quote(rows[i].text, strlen(rows[i].text));
        ck_assert_str_eq(quoted, rows[i].wanted);
        free(quoted);
    }
    quoted = quote("a\0b", 3);
    ck_assert_str_eq(quoted, "\"a\\u0000b\"");
    free(quoted);
}

/* 1,000 bytes at most, and no character is cut in two. */
TEST(test_quote_is_bounded)
{
    static const struct {
        const char *character;
        size_t before, kept; /* bytes in front of it, and bytes kept of all */
    } rows[] = {
        { "x", 999, 1000 },
        { "x", 1000, 1000 },
        { "\xC3\xA9", 998, 1000 },
        { "\xC3\xA9", 999, 999 },
        { "\xC3\xA9", 1000, 1000 },
        { "\xE2\x82\xAC", 997, 1000 },
        { "\xE2\x82\xAC", 998, 998 },
        { "\xE2\x82\xAC", 999, 999 },
        { "\xF0\x9F\x98\x80", 996, 1000 },
        { "\xF0\x9F\x98\x80", 997, 997 },
        { "\xF0\x9F\x98\x80", 998, 998 },
        { "\xF0\x9F\x98\x80", 999, 999 },
        { "\xF0\x9F\x98\x80", 1000, 1000 },
    };
    char text[2000], *quoted;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memset(text, 'a', sizeof text);
        memcpy(text + rows[i].before, rows[i].character, strlen(rows[i].character));
        quoted = quote(text, sizeof text);
        ck_assert_msg(strlen(quoted) == rows[i].kept + 2, "row %zu: %zu", i, strlen(quoted));
        ck_assert(memcmp(quoted + 1, text, rows[i].kept) == 0);
        free(quoted);
    }
    memset(text, '\x80', sizeof text); /* no characters at all */
    quoted = quote(text, sizeof text);
    ck_assert_uint_eq(strlen(quoted), 3 * 1000 + 2);
    free(quoted);
    memset(text, '\x01', sizeof text); /* the most that can come out */
    quoted = quote(text, sizeof text);
    ck_assert_uint_eq(strlen(quoted), 6 * 1000 + 2);
    free(quoted);
}

/* Is this UTF-8 to jansson? */
static bool jansson_takes(const char *bytes, size_t len)
{
    json_t *string = json_stringn(bytes, len);

    json_decref(string);
    return string != NULL;
}

/* Every sequence of two bytes, and of three and four with edges after them: we agree with jansson
 * about what is UTF-8, and what we make of the rest is JSON. */
TEST(test_agrees_with_jansson)
{
    static const char edges[][3] = { "",         "\x80",     "\xBF",     "\x7F",    "\xC0",
                                     "\x80\x80", "\xBF\xBF", "\x80\x7F", "\x80\xC0" };

    for (unsigned pair = 0; pair < 65536; pair += unit_stride(11)) {
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            char bytes[5] = { (char)(pair >> 8), (char)(pair & 255) };
            char out[LATER_STRING_ROOM(4)];
            size_t len = 2 + strlen(edges[e]), bad, room;

            if (e > 0 && pair >> 8 < 0xC0)
                break; /* seen before */
            strcpy(bytes + 2, edges[e]);
            later_document_string(out, bytes, len, &bad);
            ck_assert_msg((bad == 0) == jansson_takes(bytes, len), "%04x, edge %zu", pair, e);
            if (bad > 1)
                ck_assert(jansson_takes(bytes, bad - 1));
            room = later_document_string(out, bytes, len, NULL);
            ck_assert_uint_le(room, sizeof out);
            if (bad)
                ck_assert(jansson_takes(out, room));
        }
    }
}

/* What was quoted is read back unchanged. */
TEST(test_round_trip)
{
    char text[256], out[LATER_STRING_ROOM(256)];
    size_t len = 0, bad;
    json_t *value;

    for (int c = 0; c < 128; c++)
        text[len++] = (char)c;
    memcpy(text + len, "\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
           18);
    len += 18;
    value = json_loadb(out, later_document_string(out, text, len, &bad),
                       JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    ck_assert_uint_eq(bad, 0);
    ck_assert_uint_eq(json_string_length(value), len);
    ck_assert_mem_eq(json_string_value(value), text, len);
    json_decref(value);
}
