/* test_printable.c: what may reach a terminal. */
#include "base/printable.h"

#include "later/error.h"
#include "tests/unit/unit.h"

#include <string.h>

static const struct {
    const char *bytes;
    size_t len, size;
    uint32_t number;
} characters[] = {
    { "", 0, 0, 0 },
    { "a", 1, 1, 'a' },
    { "\xC3\xA9", 2, 2, 0xE9 },
    { "\xE2\x82\xAC", 3, 3, 0x20AC },
    { "\xF0\x9F\x98\x80", 4, 4, 0x1F600 },
    { "\xF4\x8F\xBF\xBF", 4, 4, 0x10FFFF },
};

TEST_EACH(test_character, COUNT(characters))
{
    uint32_t number = 0;

    ck_assert_uint_eq(later_character(characters[_i].bytes, characters[_i].len, &number),
                      characters[_i].size);
    if (characters[_i].size)
        ck_assert_uint_eq(number, characters[_i].number);
}

/* The table of RFC 3629, section 4, and its edges. */
TEST_EACH(test_utf8, 22)
{
    static const struct {
        const char *bytes;
        size_t len, size;
    } cases[] = {
        { "a", 1, 1 },
        { "\xC2\x80", 2, 2 },
        { "\xDF\xBF", 2, 2 },
        { "\xE0\xA0\x80", 3, 3 },
        { "\xED\x9F\xBF", 3, 3 },
        { "\xEF\xBF\xBF", 3, 3 },
        { "\xF0\x90\x80\x80", 4, 4 },
        { "\xF4\x8F\xBF\xBF", 4, 4 },
        { "", 0, 0 },
        { "\x80", 1, 0 },
        { "\xC0\x80", 2, 0 },
        { "\xC1\xBF", 2, 0 },
        { "\xC2", 1, 0 },
        { "\xC2\x20", 2, 0 },
        { "\xE0\x9F\xBF", 3, 0 },
        { "\xED\xA0\x80", 3, 0 },
        { "\xE2\x82", 2, 0 },
        { "\xE2\x82\x20", 3, 0 },
        { "\xF0\x8F\xBF\xBF", 4, 0 },
        { "\xF4\x90\x80\x80", 4, 0 },
        { "\xF5\x80\x80\x80", 4, 0 },
        { "\xFF", 1, 0 },
    };

    uint32_t number;

    ck_assert_uint_eq(later_character(cases[_i].bytes, cases[_i].len, &number), cases[_i].size);
}

static const struct {
    const char *text, *wanted;
} texts[] = {
    { "", "" },
    { "plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 ~",
      "plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 ~" },
    { "a\033[31mb\tc\nd\x7F", "a?[31mb c d?" },
    { "C1: \xC2\x80 \xC2\x9B"
      "31m \xC2\x9F \xC2\xA0",
      "C1: ? ?31m ? \xC2\xA0" },
    { "txt\xE2\x80\xAEgpj.exe", "txt?gpj.exe" }, /* U+202E */
    { "\xE2\x80\xA8|\xE2\x80\xA9|\xE2\x81\xA6|\xE2\x81\xA9", "?|?|?|?" },
    { "\x9B"
      "31m \xFF\xFE cut \xE2\x82",
      "?31m ?? cut ??" },
};

TEST_EACH(test_text, COUNT(texts))
{
    char text[100];

    strcpy(text, texts[_i].text);
    later_make_printable(text);
    ck_assert_str_eq(text, texts[_i].wanted);
}

TEST(test_errors_are_printable)
{
    struct later_error err;

    later_fail(&err, LATER_E_DATA, "duplicate member \"%s\"",
               "\xC2\x9B"
               "2J\xE2\x80\xAE");
    ck_assert_str_eq(err.text, "duplicate member \"?2J?\"");
}
