/* json_value.c: strings and numbers of JSON that was scanned. */
#include "job/json_inner.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings */

static bool json_value_continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

size_t later_json_utf8(const unsigned char *text, size_t len)
{
    unsigned char first = text[0];
    unsigned char low = 0x80, high = 0xBF; /* what the second byte may be */
    size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;

    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4 || len < size)
        return 0;
    if (first == 0xE0 || first == 0xF0) /* else overlong */
        low = first == 0xE0 ? 0xA0 : 0x90;
    if (first == 0xED || first == 0xF4) /* else a surrogate, or beyond U+10FFFF */
        high = first == 0xED ? 0x9F : 0x8F;
    if (text[1] < low || text[1] > high)
        return 0;
    if ((size > 2 && !json_value_continues(text[2])) ||
        (size > 3 && !json_value_continues(text[3])))
        return 0;
    return size;
}

/* The four digits behind \u. */
static unsigned hex(const char *at)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++)
        value = value << 4 | (unsigned)(at[i] <= '9' ? at[i] - '0' : (at[i] & 15) + 9);
    return value;
}

static size_t json_value_encode(unsigned code, char out[4])
{
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = len - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(len == 1 ? code : (0xF00U >> len & 0xFF) | code);
    return len;
}

const char *later_json_next(const char *at, char out[4], size_t *len)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *letter;
    unsigned code;

    *len = 1;
    out[0] = at[0];
    if (at[0] != '\\')
        return at + 1;
    if (at[1] != 'u') {
        letter = strchr(letters, at[1]);
        out[0] = letter ? meant[letter - letters] : at[1];
        return at + 2;
    }
    code = hex(at + 2);
    at += 6;
    if (code >= 0xD800 && code < 0xE000) { /* two halves of one character */
        code = 0x10000 + ((code & 0x3FF) << 10) + (hex(at + 2) & 0x3FF);
        at += 6;
    }
    *len = json_value_encode(code, out);
    return at;
}

size_t later_json_text(const char *value, size_t len, char *to, size_t room)
{
    const char *at = value + 1, *end = value + len - 1;
    size_t all = 0, more;
    char next[4];

    if (!memchr(at, '\\', (size_t)(end - at))) {
        all = (size_t)(end - at);
        memcpy(to, at, all < room ? all : room);
        return all;
    }
    while (at < end) {
        at = later_json_next(at, next, &more);
        for (size_t i = 0; i < more; i++, all++) {
            if (all < room)
                to[all] = next[i];
        }
    }
    return all;
}

/* ---- numbers */

#define LIMIT_DIGITS 309

/* Half way between the largest double and 2^1024, the next one that there would be: 2^1024 - 2^970.
 * From here on a number rounds to infinity. */
static const char limit[] =
    "179769313486231580793728971405303415079934132710037826936173778980444968292764"
    "750946649017977587207096330286416692887910946555547851940402630657488671505820"
    "681908902000708383676273854845817711531764475730270069855571366959622842914819"
    "860834936475292719074168444365510704342711559699508093042880177904174497792";

/* Returns the least power of 10 that is above the number, 0 for 0. *first: its first digit. */
static int64_t magnitude(const char *at, const char *end, const char **first)
{
    int64_t power = 0, exponent = 0;
    bool behind = false, negative;

    for (*first = NULL; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.')
            behind = true;
        else if (*first)
            power += !behind;
        else if (*at != '0' && (*first = at) != NULL)
            power += !behind;
        else
            power -= behind;
    }
    if (!*first || at == end)
        return *first ? power : 0;
    negative = at[1] == '-';
    for (at += at[1] == '-' || at[1] == '+' ? 2 : 1; at < end; at++) {
        if (exponent <= (int64_t)LATER_JSON_MAX) /* no digits can make up for more */
            exponent = 10 * exponent + (*at - '0');
    }
    return negative ? power - exponent : power + exponent;
}

bool later_json_overflows(const char *number, const char *end)
{
    const char *at;
    int64_t power = magnitude(number + (*number == '-'), end, &at);

    if (power != LIMIT_DIGITS)
        return power > LIMIT_DIGITS;
    for (size_t i = 0; i < LIMIT_DIGITS; i++) {
        char digit = '0'; /* if there are no more */

        if (at < end && *at == '.')
            at++;
        if (at < end && *at >= '0' && *at <= '9')
            digit = *at++;
        if (digit != limit[i])
            return digit > limit[i];
    }
    return true;
}

double later_json_double(const char *value)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0); /* ours may have a comma */
    double number = strtod_l(value, NULL, plain);

    freelocale(plain);
    return number;
}
