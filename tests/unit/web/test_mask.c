/* test_web_mask.c: what readers do not see. */
#include "http/mask.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct mask ours = { .names = { "password", "Card-Number" }, .count = 2 };

static void masked(const char *line, const char *wanted)
{
    size_t len = strlen(line);
    char *got = mask_line(&ours, line, &len);

    ck_assert_str_eq(got, wanted);
    ck_assert_uint_eq(len, strlen(wanted));
    free(got);
}

static void stays(const char *line)
{
    masked(line, line);
}

TEST(members)
{
    masked("{\"password\":\"x\",\"a\":1}", "{\"password\":\"***\",\"a\":1}");
    masked("{\"a\":[{\"b\":{\"PassWord\": 12345678901234567890}}]}",
           "{\"a\":[{\"b\":{\"PassWord\":\"***\"}}]}");
    masked("{\"password\" : {\"a\":[1,\"]}\",{\"b\":\"\\\"}\"}]} ,\"c\":true}",
           "{\"password\":\"***\",\"c\":true}");
    masked("[{\"card-number\":[]},{\"card-number\":null},{\"card-number\":\"\\\\\"}]",
           "[{\"card-number\":\"***\"},{\"card-number\":\"***\"},{\"card-number\":\"***\"}]");
    masked("{\"search\":\"a\",\"looks_inside\":[\"text:x\"]}",
           "{\"search\":\"a\",\"looks_inside\":\"***\"}");
    masked("{\"\\u0070ass\\u0077ord\":1}", "{\"\\u0070ass\\u0077ord\":\"***\"}");
}

TEST(others)
{
    stays("{\"a\":\"password\",\"b\":[\"password\",\"card-number\"],\"passwords\":1,\"pass\":2,"
          "\"xpassword\":3}");
    stays("{\"n\":12345678901234567890,\"r\":1.0e2, \"s\":\"\\u00e4\\ud83d\\ude00\\n\\/\"}");
    stays("{\"document\":\"{\\\"type\\\":\\\"a\\\\u0062\\\",\\\"payload\\\":\\\"{x\\\"}\"}");
    stays("");
    stays("no JSON: a line of some command");
}

TEST(inside)
{
    masked(
        "{\"document\":\"{\\\"type\\\":\\\"t\\\",\\\"payload\\\":{\\\"password\\\":\\\"x\\\"}}\"}",
        "{\"document\":\"{\\\"type\\\":\\\"t\\\",\\\"payload\\\":{\\\"password\\\":\\\"***\\\"}}"
        "\"}");
    masked("{\"d\":\" [{\\u0022password\\u0022:1,\\u0022a\\u0022:\\u0022\\u00e4\\u0022}]\"}",
           "{\"d\":\" [{\\\"password\\\":\\\"***\\\",\\\"a\\\":\\\"\xc3\xa4\\\"}]\"}");
    /* in a string of a string */
    masked("{\"d\":\"{\\\"p\\\":\\\"{\\\\\\\"password\\\\\\\":1}\\\"}\"}",
           "{\"d\":\"{\\\"p\\\":\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"***\\\\\\\"}\\\"}\"}");
    masked("[\"\\\"{\\\\\\\"password\\\\\\\":1}\\\"\"]",
           "[\"\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"***\\\\\\\"}\\\"\"]");
    /* no JSON: text that begins with a quote stays, or is masked as a whole if the quote has no end
     */
    masked("[\"\\\"Yes\\\", she said\"]", "[\"\\\"Yes\\\", she said\"]");
    masked("[\"\\\"Yes\"]", "[\"\\\"***\\\"\"]");
}

/* However deep: no secret, and JSON. */
TEST(deep)
{
    json_t *inner = json_pack("{s:s}", "password", "s3cret");

    for (int i = 0; i < 8; i++) {
        char *text = json_dumps(inner, JSON_COMPACT), *got;
        size_t len = strlen(text);
        json_t *read;

        got = mask_line(&ours, text, &len);
        ck_assert_msg(!strstr(got, "s3cret") && strstr(got, MASKED), "%s", got);
        read = json_loads(got, 0, NULL);
        ck_assert_msg(read, "%s", got);
        json_decref(read);
        json_decref(inner);
        inner = json_pack("{s:s}", "d", text);
        free(got);
        free(text);
    }
    json_decref(inner);
}

/* What is cut anywhere ends nothing but itself. */
TEST(cut_short)
{
    const char *line =
        "{\"password\":{\"a\":\"\\u0070\\\\\"},\"d\":\"{\\\"password\\\":\\\"\\u00e4\\\"}\"}";

    for (size_t cut = 0; cut <= strlen(line); cut++) {
        size_t len = cut;
        char *copy = malloc(cut ? cut : 1), *got;

        memcpy(copy, line, cut);
        got = mask_line(&ours, copy, &len);
        ck_assert(got);
        free(got);
        free(copy);
    }
}
