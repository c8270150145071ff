/* test_job_json.c: how a plugin reads a payload's members. */
#include "tests/unit/fake_host.h"
#include "tests/unit/unit.h"

#include <later/job_json.h>

#include <string.h>

static json_error_t *error_wanted;
static json_t *parsed;

static enum later_result perform(struct later_job *job)
{
    parsed = later_job_json(job, error_wanted);
    return parsed ? LATER_DONE : LATER_BURY;
}

static const struct later_type types[] = { { .name = "t", .perform = perform }, { 0 } };
LATER_PLUGIN(.name = "test", .version = "1", .types = types);

/* The payload as a job's handler sees it; the caller json_decref()s. NULL with *error. */
static json_t *parse(const char *payload, json_error_t *error)
{
    struct later_job *job;

    fake_reset();
    error_wanted = error;
    job = fake_job_new("t", payload);
    fake_job_perform(later_plugin_open(fake_host()), job);
    fake_job_free(job); /* what was parsed does not borrow from it */
    ck_assert_uint_eq(fake.misuses, 0);
    return parsed;
}

CASE("payloads", NULL, NULL);

TEST(test_any_value)
{
    json_error_t error;
    json_t *json = parse("{\"to\":\"a@b.c\"}", &error);

    ck_assert_str_eq(later_json_string(json, "to", NULL), "a@b.c");
    json_decref(json);
    json = parse("[1,2]", NULL);
    ck_assert_uint_eq(json_array_size(json), 2);
    json_decref(json);
    json = parse("\"text\"", NULL);
    ck_assert_str_eq(json_string_value(json), "text");
    json_decref(json);
    json = parse("9007199254740993", NULL); /* an integer, to its last digit */
    ck_assert(json_is_integer(json) && json_integer_value(json) == 9007199254740993);
    json_decref(json);
    json = parse(NULL, NULL);
    ck_assert(json_is_null(json));
    json_decref(json);
}

TEST(test_what_c_cannot_hold)
{
    json_error_t error = { .text = "" };

    ck_assert_ptr_null(parse("12345678901234567890", &error));
    ck_assert_uint_gt(strlen(error.text), 0);
    error.text[0] = '\0';
    ck_assert_ptr_null(parse("{\"a\":\"x\\u0000y\"}", &error));
    ck_assert_uint_gt(strlen(error.text), 0);
    ck_assert_ptr_null(parse("12345678901234567890", NULL));
}

CASE("members", NULL, NULL);

TEST(test_strings)
{
    json_t *json = parse("{\"a\":\"x\",\"e\":\"\",\"n\":null,\"i\":5,\"l\":[\"x\"]}", NULL);

    ck_assert_str_eq(later_json_string(json, "a", "no"), "x");
    ck_assert_str_eq(later_json_string(json, "e", "no"), "");
    ck_assert_str_eq(later_json_string(json, "n", "no"), "no");
    ck_assert_str_eq(later_json_string(json, "i", "no"), "no");
    ck_assert_str_eq(later_json_string(json, "l", "no"), "no");
    ck_assert_str_eq(later_json_string(json, "z", "no"), "no");
    ck_assert_ptr_null(later_json_string(json, "z", NULL));
    ck_assert_str_eq(later_json_string(NULL, "a", "no"), "no");
    ck_assert_str_eq(later_json_string(json_object_get(json, "l"), "a", "no"), "no");
    json_decref(json);
}

TEST(test_integers)
{
    json_t *json = parse("{\"a\":5,\"z\":0,\"min\":-9223372036854775808,\"r\":5.0,\"e\":1e3,"
                         "\"h\":5.5,\"p\":9007199254740992.0,\"q\":9007199254740994.0,\"big\":1e30,"
                         "\"low\":-1e30,\"s\":\"5\",\"n\":null,\"t\":true}",
                         NULL);

    ck_assert_int_eq(later_json_integer(json, "a", 7), 5);
    ck_assert_int_eq(later_json_integer(json, "z", 7), 0);
    ck_assert(later_json_integer(json, "min", 7) == INT64_MIN);
    ck_assert_int_eq(later_json_integer(json, "r", 7), 5);
    ck_assert_int_eq(later_json_integer(json, "e", 7), 1000);
    ck_assert_int_eq(later_json_integer(json, "h", 7), 7);
    ck_assert(later_json_integer(json, "p", 7) == 9007199254740992);
    ck_assert_int_eq(later_json_integer(json, "q", 7), 7);
    ck_assert_int_eq(later_json_integer(json, "big", 7), 7);
    ck_assert_int_eq(later_json_integer(json, "low", 7), 7);
    ck_assert_int_eq(later_json_integer(json, "s", 7), 7);
    ck_assert_int_eq(later_json_integer(json, "n", 7), 7);
    ck_assert_int_eq(later_json_integer(json, "t", 7), 7);
    ck_assert_int_eq(later_json_integer(json, "none", 7), 7);
    ck_assert_int_eq(later_json_integer(NULL, "a", 7), 7);
    json_decref(json);
}

TEST(test_numbers)
{
    json_t *json = parse("{\"a\":5,\"h\":-5.5,\"s\":\"5\",\"n\":null}", NULL);

    ck_assert_double_eq(later_json_number(json, "a", 7), 5);
    ck_assert_double_eq(later_json_number(json, "h", 7), -5.5);
    ck_assert_double_eq(later_json_number(json, "s", 7), 7);
    ck_assert_double_eq(later_json_number(json, "n", 7), 7);
    ck_assert_double_eq(later_json_number(json, "none", 7), 7);
    ck_assert_double_eq(later_json_number(NULL, "a", 7), 7);
    json_decref(json);
}
