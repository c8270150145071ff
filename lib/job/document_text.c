/* document_text.c: JSON strings, numbers, and ids. */
#include "job/document_text.h"

#include "base/random.h"
#include "base/spell.h"
#include "job/document.h"
#include "job/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED_MAX 1000 /* bytes that later_document_quote() takes */

/* ---- strings */

static bool document_text_continues(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Writes one character of `size` bytes. */
static char *put_character(char *out, const unsigned char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char c = text[0];

    if (size == 1 && (c < ' ' || c == 127)) {
        memcpy(out, "\\u00", 4);
        out[4] = digits[c >> 4];
        out[5] = digits[c & 15];
        return out + 6;
    }
    if (c == '"' || c == '\\')
        *out++ = '\\';
    memcpy(out, text, size);
    return out + size;
}

size_t later_document_string(char *out, const char *text, size_t len, size_t *bad)
{
    const unsigned char *bytes = (const unsigned char *)text;
    char *to = out;
    size_t size;

    if (bad)
        *bad = 0;
    *to++ = '"';
    for (size_t at = 0; at < len; at += size) {
        size = later_json_utf8(bytes + at, len - at);
        if (size > 0) {
            to = put_character(to, bytes + at, size);
            continue;
        }
        if (bad) {
            *bad = at + 1;
            break;
        }
        memcpy(to, "\xEF\xBF\xBD", 3);
        to += 3;
        size = 1;
    }
    *to++ = '"';
    return (size_t)(to - out);
}

char *later_document_quote(const char *text, size_t len)
{
    char *quoted;
    size_t end = len;

    if (len > QUOTED_MAX) {
        end = QUOTED_MAX;
        while (end > QUOTED_MAX - 3 && document_text_continues((unsigned char)text[end]))
            end--;
        if (document_text_continues((unsigned char)text[end])) /* not a character */
            end = QUOTED_MAX;
    }
    quoted = malloc(LATER_STRING_ROOM(end) + 1);
    if (quoted)
        quoted[later_document_string(quoted, text, end, NULL)] = '\0';
    return quoted;
}

/* ---- numbers */

size_t later_document_number(char out[LATER_NUMBER_SIZE], double number)
{
    char text[2 * LATER_NUMBER_SIZE];
    size_t len = 0;
    int digits = 15;

    do
        snprintf(text, sizeof text, "%.*g", digits, number);
    while (strtod(text, NULL) != number && digits++ < 17);
    for (const char *c = text; *c; c++) {
        if ((*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e')
            out[len++] = *c;
        /* The locale's decimal point, one or more bytes. */
        else if (len == 0 || out[len - 1] != '.')
            out[len++] = '.';
    }
    out[len] = '\0';
    return len;
}

/* ---- ids */

/* Two characters are in the alphabet twice, so that no random number has to be drawn again. */
uint64_t later_document_id(char id[LATER_NEW_ID_SIZE])
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz01";
    struct {
        uint64_t more;
        unsigned char id[LATER_NEW_ID_SIZE - 1];
    } drawn;

    later_random(&drawn, sizeof drawn);
    for (size_t i = 0; i < sizeof drawn.id; i++)
        id[i] = digits[drawn.id[i] & 63];
    id[sizeof drawn.id] = '\0';
    return drawn.more;
}

void later_document_chance(char number[LATER_NEW_NUMBER_SIZE], uint64_t bits)
{
    char spelled[LATER_SPELLED];

    if (!bits)
        later_random(&bits, sizeof bits);
    later_spell_number(spelled, UINT64_C(100000000000000000) + bits % UINT64_C(900000000000000000));
    memcpy(number, spelled, LATER_NEW_NUMBER_SIZE);
}
