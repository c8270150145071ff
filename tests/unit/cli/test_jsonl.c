/* test_jsonl.c: objects of JSON, member by member and in printf's form. */
#include "output/jsonl.h"

#include "tests/unit/unit.h"
#include "text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void wrote(FILE *out, char **text, const char *wanted)
{
    char *json = jsonl_written(out, text);

    ck_assert_str_eq(json, wanted);
    free(json);
}

TEST(a_conversion_for_each_kind_of_member)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    jsonl_line(out, "a:%s none:%s is:word d:%d u:%u jd:%jd ju:%ju yes:%c no:%c", "x\"y",
               text_known(""), -1, UINT32_MAX, (intmax_t)INT64_MIN, (uintmax_t)INT64_MAX, 1, 0);
    wrote(out, &text,
          "{\"a\":\"x\\\"y\",\"none\":null,\"is\":\"word\",\"d\":-1,\"u\":4294967295,"
          "\"jd\":-9223372036854775808,\"ju\":9223372036854775807,\"yes\":true,\"no\":false}\n");
}

/* JSON has no infinity; what is not known is null. */
TEST(numbers_with_decimals)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    jsonl_line(out, "whole:%f part:%f micros:%f unknown:%f most:%f", 5.0, 0.25, 1764512345.123456,
               (double)NAN, (double)INFINITY);
    wrote(out, &text,
          "{\"whole\":5,\"part\":0.25,\"micros\":1764512345.123456,\"unknown\":null,"
          "\"most\":\"inf\"}\n");
}

TEST(objects_and_lists_within_an_object)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    struct jsonl json;

    jsonl_begin(&json, out);
    jsonl_open(&json, "list", '[');
    jsonl_int(&json, NULL, 1);
    jsonl_open(&json, NULL, '{');
    jsonl_add(&json, "in:%s", "it");
    jsonl_close(&json, '}');
    jsonl_close(&json, ']');
    jsonl_open(&json, "empty", '{');
    jsonl_close(&json, '}');
    jsonl_text(&json, "last", NULL);
    jsonl_end(&json);
    wrote(out, &text, "{\"list\":[1,{\"in\":\"it\"}],\"empty\":{},\"last\":null}\n");
}
