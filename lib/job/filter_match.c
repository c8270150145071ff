/* filter_match.c: compares the values of conditions with those of a job. */
#include "job/filter_match.h"

#include "job/filter.h"

#include <stdlib.h>
#include <string.h>

#define EXACT_DIGITS 15 /* decimal digits that a double keeps */

/* --- numbers --- */

bool later_filter_number(const char *word, struct later_filter_number *number)
{
    size_t digits;

    *number = (struct later_filter_number){ .less = *word == '<', .more = *word == '>' };
    word += number->less || number->more;
    number->equal = *word == '=' || !(number->less || number->more);
    word += *word == '=';
    number->number = strtoll(word, NULL, 10);
    word += *word == '-';
    digits = strspn(word, "0123456789");
    return digits > 0 && digits < 10 && !word[digits];
}

bool later_filter_counts(const struct later_filter_number *number, int64_t count)
{
    if (count == number->number)
        return number->equal;
    return count < number->number ? number->less : number->more;
}

/* --- strings --- */

bool later_filter_string(const char *bytes, size_t len, const char *name, char *to, size_t room)
{
    struct later_json_member member = { .name = name };
    struct later_error ignored;
    size_t full;

    if (len == 0 || later_json_scan(bytes, len, &member, 1, &ignored) < 0 || !member.value ||
        *member.value != '"')
        return false;
    full = later_json_text(member.value, member.len, to, room - 1);
    to[full < room ? full : room - 1] = '\0';
    return true;
}

/* If a later * was reached, only that one is tried again. */
bool later_filter_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

bool later_filter_has(const char *bytes, size_t len, const char *text)
{
    struct later_error ignored;
    size_t wanted = strlen(text), plain_len;
    char *plain;
    bool found;

    if (memmem(bytes, len, text, wanted))
        return true;
    if (!memchr(bytes, '\\', len) || later_json_scan(bytes, len, NULL, 0, &ignored) < 0)
        return false;
    plain = malloc(len);
    if (!plain)
        return false;
    /* It is decoded as if it were one string: outside of strings nothing is escaped. */
    plain_len = later_json_text(bytes, len, plain, len);
    found = memmem(plain, plain_len, text, wanted) != NULL;
    free(plain);
    return found;
}

/* --- values --- */

static bool filter_match_is_number(const char *text, size_t len)
{
    struct later_error ignored;

    return len > 0 && (*text == '-' || (*text >= '0' && *text <= '9')) &&
           later_json_scan(text, len, NULL, 0, &ignored) == 0;
}

static double filter_match_number_of(const char *text, size_t len)
{
    char copy[EXACT_DIGITS + 2] = "";

    memcpy(copy, text, len);
    copy[len] = ']'; /* the number must not end with the buffer */
    return later_json_double(copy);
}

/* Compares numbers by value if a double can tell them apart; longer ones must have the same digits.
 */
static bool equal_numbers(const char *value, size_t value_len, const char *text)
{
    size_t len = strlen(text);

    if (value_len == len && memcmp(value, text, len) == 0)
        return true;
    if (value_len > EXACT_DIGITS || len > EXACT_DIGITS || !filter_match_is_number(text, len))
        return false;
    return filter_match_number_of(value, value_len) == filter_match_number_of(text, len);
}

bool later_filter_equals(const struct later_json_member *value, const char *text)
{
    char string[LATER_FILTER_VALUE_MAX + 1];
    size_t len = strlen(text);

    switch (*value->value) {
    case '"':
        return later_json_text(value->value, value->len, string, sizeof string) == len &&
               memcmp(string, text, len) == 0;
    case '{':
    case '[':
        return false;
    case 't':
    case 'f':
    case 'n':
        return value->len == len && memcmp(value->value, text, len) == 0;
    default:
        return equal_numbers(value->value, value->len, text);
    }
}
