/* document_text.c: JSON strings, numbers, and ids. */
#include "job/document_text.h"

#include "job/document.h"
#include "job/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define QUOTED_MAX 1000 /* bytes that later_document_quote() takes */

/* ---- strings */

static bool continues(unsigned char byte)
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
        while (end > QUOTED_MAX - 3 && continues((unsigned char)text[end]))
            end--;
        if (continues((unsigned char)text[end])) /* no character at all */
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
        else if (len == 0 || out[len - 1] != '.') /* the locale's point, of one or more bytes */
            out[len++] = '.';
    }
    out[len] = '\0';
    return len;
}

/* ---- ids */

static void put_hex(char **to, uint64_t value, int digits)
{
    while (digits-- > 0)
        *(*to)++ = "0123456789abcdef"[value >> (4 * digits) & 15];
}

/* 64 bits that nobody has drawn before. */
static uint64_t draw(const struct timespec *now)
{
    uint64_t bits = 0;
    ssize_t got;

    do
        got = getrandom(&bits, sizeof bits, 0);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof bits)
        return bits;
    /* A kernel that refuses: an id must be new, it need not be a secret. */
    return ((uint64_t)now->tv_nsec << 34) ^ ((uint64_t)getpid() << 12) ^ (uintptr_t)&bits;
}

/* 48 bits of milliseconds, 12 of the fraction of one (RFC 9562, section 6.2, method 3), 62 drawn.
 * A host's clock is harmless here: it only makes ids sort roughly by age; that they differ rests on
 * the drawn bits, and nothing of laterd reads the time in an id. */
void later_document_uuid(char uuid[37])
{
    struct timespec now;
    uint64_t ms, fraction, drawn;
    char *to = uuid;

    clock_gettime(CLOCK_REALTIME, &now);
    ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    fraction = (uint64_t)now.tv_nsec % 1000000 * 4096 / 1000000;
    drawn = draw(&now);
    put_hex(&to, ms >> 16, 8);
    *to++ = '-';
    put_hex(&to, ms & 0xFFFF, 4);
    *to++ = '-';
    put_hex(&to, 0x7000 | fraction, 4);
    *to++ = '-';
    put_hex(&to, 0x8000 | (drawn >> 48 & 0x3FFF), 4);
    *to++ = '-';
    put_hex(&to, drawn & 0xFFFFFFFFFFFF, 12);
    *to = '\0';
}
