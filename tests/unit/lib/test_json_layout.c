/* test_json_layout.c: JSON with a line for each member, and without white space. */
#include "job/json_layout.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *compact, *indented;
} layouts[] = {
    { "5", "5" },
    { "\"a b\"", "\"a b\"" },
    { "{}", "{}" },
    { "[]", "[]" },
    { "[[],{}]", "[\n  [],\n  {}\n]" },
    { "{\"a\":1,\"b\":[1.50,-2e9]}", "{\n  \"a\": 1,\n  \"b\": [\n    1.50,\n    -2e9\n  ]\n}" },
    { "{\"a\":{\"b\":{}}}", "{\n  \"a\": {\n    \"b\": {}\n  }\n}" },
    { "{\"q\":\"\\\" {,}: \\\\\",\"r\":null}",
      "{\n  \"q\": \"\\\" {,}: \\\\\",\n  \"r\": null\n}" },
};

TEST_EACH(test_layout, COUNT(layouts))
{
    const char *compact = layouts[_i].compact;
    size_t len = 0;
    char *made = later_json_indent(compact, strlen(compact), &len);

    ck_assert_str_eq(made, layouts[_i].indented);
    ck_assert_uint_eq(len, strlen(made));
    len = later_json_compact(made, len);
    ck_assert_uint_eq(len, strlen(compact));
    ck_assert_mem_eq(made, compact, len);
    free(made);
}

/* A person may leave half a string or half an escape behind; nothing is read beyond the end. */
TEST(test_unfinished)
{
    static const char *const ends[] = { "\"ab", "\"ab\\", "[ \"", "{\"a\":\"\\\"" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t len = strlen(ends[i]), made;
        char *exact = malloc(len);

        memcpy(exact, ends[i], len);
        made = later_json_compact(exact, len);
        ck_assert_uint_eq(made, i == 2 ? len - 1 : len);
        free(exact);
    }
}
