/* json_string.c: strings in the pass over JSON. */
#include "job/json_inner.h"

#include <stdio.h>
#include <string.h>

const char *later_json_wrong(struct later_json_pass *pass, const char *at, const char *what)
{
    size_t byte = (size_t)(at - pass->start) + 1;

    if (at >= pass->end)
        later_fail(pass->err, LATER_E_DATA, "not JSON: ends too early, at byte %zu", byte - 1);
    else
        later_fail(pass->err, LATER_E_DATA, "not JSON: %s at byte %zu", *at ? what : "NUL byte",
                   byte);
    return NULL;
}

static inline bool json_string_is_plain(signed char byte)
{
    return byte >= ' ' && byte != '"' && byte != '\\';
}

/* Are these 32 bytes plain ASCII? The compiler vectorizes this. */
static bool is_plain_block(const char *at)
{
    unsigned char bad = 0;

    for (size_t i = 0; i < 32; i++)
        bad |= !json_string_is_plain((signed char)at[i]);
    return !bad;
}

/* Most strings are short, so blocks are tried only after four words. */
static const char *skip_plain(const char *at, const char *end)
{
    uint64_t stops;

    for (unsigned words = 1; end - at >= 8; words++) {
        stops = later_json_stops(later_json_word(at));
        if (stops)
            return at + later_json_first(stops);
        at += 8;
        while (words >= 4 && end - at >= 32 && is_plain_block(at))
            at += 32;
    }
    while (at < end && json_string_is_plain((signed char)*at))
        at++;
    return at;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Reads the four digits at `at` into *code. */
static const char *read_hex(struct later_json_pass *pass, const char *at, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, at++) {
        if (at >= pass->end || !is_hex(*at))
            return later_json_wrong(pass, at, "invalid escape");
        *code = *code << 4 | (unsigned)(*at <= '9' ? *at - '0' : (*at & 15) + 9);
    }
    return at;
}

/* Reads an escape from its backslash. */
static const char *read_escape(struct later_json_pass *pass, const char *at)
{
    const char *from = at++;
    unsigned code, second;

    if (at >= pass->end || !*at || !strchr("\"\\/bfnrtu", *at))
        return later_json_wrong(pass, at, "invalid escape");
    if (*at++ != 'u')
        return at;
    if (!(at = read_hex(pass, at, &code)))
        return NULL;
    pass->nul = pass->nul || code == 0;
    if (code < 0xD800 || code > 0xDFFF)
        return at;
    if (code > 0xDBFF || pass->end - at < 2 || at[0] != '\\' || at[1] != 'u')
        return later_json_wrong(pass, from, "half a surrogate pair");
    if (!(at = read_hex(pass, at + 2, &second)))
        return NULL;
    return second >= 0xDC00 && second <= 0xDFFF
               ? at
               : later_json_wrong(pass, from, "half a surrogate pair");
}

static const char *bad_byte(struct later_json_pass *pass, const char *at)
{
    char what[32] = "unexpected newline";

    if (at < pass->end && *at != '\n')
        snprintf(what, sizeof what, "control character 0x%x", (unsigned)(unsigned char)*at);
    return later_json_wrong(pass, at, what);
}

const char *later_json_read_string(struct later_json_pass *pass, const char *at)
{
    size_t len;

    for (;;) {
        at = skip_plain(at, pass->end);
        if (at < pass->end && *at == '"')
            return at + 1;
        if (at < pass->end && *at == '\\') {
            pass->escaped = true;
            if (!(at = read_escape(pass, at)))
                return NULL;
        } else if (at >= pass->end || !((unsigned char)*at & 0x80)) {
            return bad_byte(pass, at);
        }
        while (at < pass->end && ((unsigned char)*at & 0x80)) {
            len = later_json_utf8((const unsigned char *)at, (size_t)(pass->end - at));
            if (!len)
                return later_json_wrong(pass, at, "bad UTF-8");
            at += len;
        }
    }
}
