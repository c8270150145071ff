/* test_json.c: what the one pass over JSON accepts and finds. test_json_judge.c compares it with
 * jansson. */
#include "job/json.h"
#include "tests/support/json_judge.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool out_of_memory;

/* Asked instead of malloc() and realloc() (-Wl,--wrap). */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    return out_of_memory ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return out_of_memory ? NULL : __real_realloc(memory, size);
}

/* Is it JSON to us, and jansson agrees? */
static bool takes(const char *bytes, size_t len)
{
    char *exact = malloc(len ? len : 1);
    const char *differs;
    bool taken;

    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, len);
    differs = json_judge(exact, len, &taken);
    ck_assert_msg(!differs, "%s: %.*s", differs, (int)len, bytes);
    free(exact);
    return taken;
}

static void all(bool wanted, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(takes(texts[i], strlen(texts[i])) == wanted, "%s", texts[i]);
}

#define ALL(wanted, texts) all(wanted, texts, sizeof(texts) / sizeof *(texts))

/* The edges of RFC 8259, in the manner of JSONTestSuite (Seriot, "Parsing JSON is a Minefield"). */
TEST(test_taken)
{
    static const char *const texts[] = {
        "null",
        "\"\"",
        " \t\r\n[] \t\r\n",
        "[[] ]",
        "[\"\"]",
        "[null,1,\"1\",{}]",
        "{\"\":0}",
        "{\"a\":{\"a\":{\"a\":1}}}",
        "[{\"a\":1},{\"a\":1}]",
        "{\"a\":[],\"A\":[]}",
        "{\"min\":-1.0e+28,\"max\":1.0e+28}",
        "[-0]",
        "[0e1]",
        "[0e+1]",
        "[1E-2]",
        "[123e65]",
        "[123.456e78]",
        "[-123456789012345678901234567890]",
        "[0.000000000000000000000000000000000000000000000000000000000000001]",
        "[1.7976931348623158e308]",
        "[123e-10000000]",
        "[0e309,0.0000e400]",
        "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
        "[\"\\u0060\\u012a\\u12AB\"]",
        "[\"\\uD801\\udc37\\uDBFF\\uDFFF\"]",
        "[\"\\u0000\"]",
        "[\"\\uFDD0\\uFFFE\\uFFFF\"]",
        "[\"\\u2028\xE2\x80\xA8\x7F\"]",
        "[\"\xF4\x8F\xBF\xBF\xEE\x80\x80\xED\x9F\xBF\xC2\x80\"]",
        "[\"a/*b*/c//d#e\"]",
        "{\"a\":\"b\",\"\\u0061\\u0062\":1,\"\xC3\xA9\":2,\"e\":3}",
    };

    ALL(true, texts);
}

TEST(test_refused)
{
    static const char *const texts[] = {
        "",
        " ",
        "\xEF\xBB\xBF{}",
        "\xEF\xBB",
        "[1 2]",
        "[1,]",
        "[,1]",
        "[1,,2]",
        "[",
        "[]]",
        "[1}",
        "[\"\"],",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1,,\"b\":2}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{:1}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "{\"a\":1}}",
        "{\"a\":1}#",
        "{\"a\":1/**/}",
        "*",
        "nul",
        "nulll",
        "True",
        "truefalse",
        "[nan]",
        "[Infinity]",
        "[-Infinity]",
        "[+1]",
        "[.5]",
        "[-.5]",
        "[1.]",
        "[1.e1]",
        "[1e]",
        "[1e+]",
        "[1eE2]",
        "[1.2.3]",
        "[01]",
        "[-01]",
        "[--1]",
        "[- 1]",
        "[0x1]",
        "[1_000]",
        "[1a]",
        "[\xEF\xBC\x91]",
        "[1e309]",
        "[-1e309]",
        "[\"]",
        "[\"\\\"]",
        "[\"\\]",
        "\"",
        "\"\\",
        "[\"\\x00\"]",
        "[\"\\a\"]",
        "[\"\\U0041\"]",
        "[\"\\u\"]",
        "[\"\\u00A\"]",
        "[\"\\u00G0\"]",
        "[\"\\uD800\"]",
        "[\"\\uDC00\"]",
        "[\"\\uD800\\\"]",
        "[\"\\uD800\\u\"]",
        "[\"\\uD800\\u1\"]",
        "[\"\\uD800\\uD800\"]",
        "[\"\\uD800\\n\"]",
        "[\"\\uDC00\\uD800\"]",
        "[\"\\uD800",
        "[\"\\uD800\\uDC0",
        "[\"a\tb\"]",
        "[\"a\nb\"]",
        "[\"\x1F\"]",
        "[\"0123456789\x01\"]",
        "[\"\xFF\"]",
        "[\"\x80\"]",
        "[\"\xC0\x80\"]",
        "[\"\xC1\xBF\"]",
        "[\"\xE0\x80\x80\"]",
        "[\"\xED\xA0\x80\"]",
        "[\"\xF4\x90\x80\x80\"]",
        "[\"\xF8\x88\x80\x80\x80\"]",
        "[\"\xE2\x82",
        "{\"\\u0000\":1}",
        "[{\"a\\u0000b\":1}]",
        "{\"a\":1,\"a\":1}",
        "{\"\":1,\"\":2}",
        "[{\"a\":{\"b\":1,\"c\":2,\"b\":3}}]",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"\\u00e9\":1,\"\xC3\xA9\":2}",
        "{\"\xF0\x9F\x98\x80\":1,\"\\uD83D\\uDE00\":2}",
        "{\"a/b\":1,\"a\\/b\":2}",
    };

    ALL(false, texts);
}

/* From where on a number rounds to infinity, in every way to write it. */
TEST(test_largest_number)
{
    static const char least[] = /* 2^1024 - 2^970 */
        "179769313486231580793728971405303415079934132710037826936173778980444968292764"
        "750946649017977587207096330286416692887910946555547851940402630657488671505820"
        "681908902000708383676273854845817711531764475730270069855571366959622842914819"
        "860834936475292719074168444365510704342711559699508093042880177904174497792";
    char limit[sizeof least], text[900];
    size_t len = strlen(least);

    strcpy(limit, least);
    ck_assert_uint_eq(len, 309);
    ck_assert(!takes(limit, len));
    snprintf(text, sizeof text, "-%s.000", limit);
    ck_assert(!takes(text, strlen(text)));
    snprintf(text, sizeof text, "0.000%se312", limit);
    ck_assert(!takes(text, strlen(text)));
    snprintf(text, sizeof text, "%c.%se308", limit[0], limit + 1);
    ck_assert(!takes(text, strlen(text)));
    snprintf(text, sizeof text, "%s%0300de-300", limit, 0);
    ck_assert(!takes(text, strlen(text)));
    limit[308]--;
    ck_assert(takes(limit, len));
    snprintf(text, sizeof text, "0.000%s99999999e312", limit);
    ck_assert(takes(text, strlen(text)));
    snprintf(text, sizeof text, "%c.%se0000000308", limit[0], limit + 1);
    ck_assert(takes(text, strlen(text)));
}

/* An object with `count` different names, of which the one at `twice` comes again at the end in
 * another spelling. The caller frees. */
static char *with_names(unsigned count, long twice)
{
    char *text = malloc(32 * (size_t)count + 64), *to = text;

    ck_assert_ptr_nonnull(text);
    to += sprintf(to, "{\"p\":{\"n\":0");
    for (unsigned i = 0; i < count; i++) /* in no order */
        to += sprintf(to, ",\"n%u\":{\"n%u\":1}", (unsigned)(i * 7919UL % 1000003), i);
    if (twice >= 0)
        to += sprintf(to, ",\"\\u006e%lu\":1", (unsigned long)twice * 7919 % 1000003);
    strcpy(to, "}}");
    return text;
}

TEST(test_many_names)
{
    static const unsigned counts[] = { 2, 20, 30, 31, 32, 33, 60, 510, 511, 512, 513, 1025, 5000 };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (long twice = -1; twice < (long)counts[i]; twice += 1 + (long)counts[i] / 7) {
            char *text = with_names(counts[i], twice);

            ck_assert(takes(text, strlen(text)) == (twice < 0));
            free(text);
        }
    }
}

static double seconds_for(const char *text, int times)
{
    size_t len = strlen(text);
    struct later_error err;
    clock_t start = clock();

    for (int i = 0; i < times; i++)
        ck_assert_int_eq(later_json_scan(text, len, NULL, 0, &err), 0);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* A hundred times the names cost a hundred times the time, not ten thousand times. */
TEST(test_names_cost_what_they_weigh)
{
    char *few = with_names(1000, -1), *many = with_names(100000, -1);
    double one = seconds_for(few, 100), other = seconds_for(many, 1);

    ck_assert_msg(other < 10 * one, "%f s for 100 x 1,000 names, %f s for 100,000", one, other);
    free(few);
    free(many);
}

TEST(test_no_memory)
{
    char *few = with_names(500, -1), *many = with_names(600, -1);
    struct later_error err;
    int one, other;

    out_of_memory = true;
    one = later_json_scan(few, strlen(few), NULL, 0, &err);
    other = later_json_scan(many, strlen(many), NULL, 0, &err);
    out_of_memory = false;
    ck_assert_int_eq(one, 0);
    ck_assert_int_eq(other, -1);
    ck_assert_int_eq(err.code, LATER_E_SYSTEM);
    ck_assert_str_eq(err.text, "no memory");
    free(few);
    free(many);
}

TEST(test_members)
{
    static const char text[] =
        " {\"b\": [1, 2] , \"in\":{\"a\":0},\"\\u0061\" :\"x\\u00e9\", \"c\":-1.5e1 }";
    struct later_json_member found[] = {
        { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" }, { .name = NULL }
    };
    struct later_error err;
    char decoded[4];

    ck_assert_int_eq(later_json_scan(text, strlen(text), found, 5, &err), 0);
    ck_assert_uint_eq(found[0].len, 9);
    ck_assert(strncmp(found[0].value, "\"x\\u00e9\"", 9) == 0);
    ck_assert_uint_eq(later_json_text(found[0].value, found[0].len, decoded, 2), 3);
    ck_assert_mem_eq(decoded, "x\xC3", 2);
    ck_assert_uint_eq(found[1].len, 6);
    ck_assert(strncmp(found[1].value, "[1, 2]", 6) == 0);
    ck_assert_double_eq(later_json_double(found[2].value), -15);
    ck_assert_ptr_null(found[3].value);
    ck_assert_uint_eq(found[4].len, 4);
    ck_assert(strncmp(found[4].value, "\"in\"", 4) == 0);
    ck_assert_int_eq(later_json_scan("[{\"a\":1}]", 9, found, 5, &err), 0);
    ck_assert_ptr_null(found[4].value);
    ck_assert_ptr_null(found[0].value);
}
