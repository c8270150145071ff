/* mask.c: members of JSON whose values readers do not see. */
#include "mask.h"

#include "output/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH 4 /* JSON in a string of JSON; what is deeper is masked as a whole */

bool mask_has(const struct mask *mask, const char *name)
{
    for (size_t i = 0; i < mask->count; i++) {
        if (strcasecmp(mask->names[i], name) == 0)
            return true;
    }
    return false;
}

/* Returns where the string that begins at `at` ends: after its closing quote, or at `end`. */
static const char *mask_string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

static const char *mask_skip_space(const char *at, const char *end)
{
    while (at < end && *at && strchr(" \t\r\n", *at))
        at++;
    return at;
}

/* Returns where the value that begins at `at` ends. */
static const char *mask_value_end(const char *at, const char *end)
{
    int depth = 0;

    for (at = mask_skip_space(at, end); at < end; at++) {
        if (*at == '"')
            at = mask_string_end(at, end) - 1;
        else if (*at == '{' || *at == '[')
            depth++;
        else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
            return at;
        else if (*at == '}' || *at == ']')
            depth--;
    }
    return end;
}

/* --- the bytes of a string --- */

/* Writes a code point as UTF-8. Returns how many bytes that are. */
static size_t mask_put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* Reads what is behind a backslash, and moves *at behind it. Half of a surrogate pair becomes "?":
 * what is written with one is a character of no member that has a name of ours. */
static size_t mask_put_escaped(char *to, const char **at)
{
    static const char letters[] = "nrtbf", meant[] = "\n\r\t\b\f";
    char letter = *(*at)++;
    const char *found = letter ? strchr(letters, letter) : NULL;
    char digits[5] = "";
    unsigned code;

    if (letter != 'u') {
        *to = found ? meant[found - letters] : letter;
        return 1;
    }
    memcpy(digits, *at, 4);
    code = (unsigned)strtoul(digits, NULL, 16);
    *at += 4;
    return mask_put_code(to, code >= 0xd800 && code < 0xe000 ? '?' : code);
}

/* Returns what the string from `from` to `to`, with its quotes, means. malloc'ed; NULL without
 * memory. It is never longer than what is written. */
static char *mask_decode(const char *from, const char *to, size_t *len)
{
    char *text = malloc((size_t)(to - from) + 1);
    const char *at = from + 1;

    *len = 0;
    while (text && at < to - 1) {
        if (*at != '\\')
            text[(*len)++] = *at++;
        else if (at++, at < to - 1 && (*at != 'u' || to - 1 - at > 4))
            *len += mask_put_escaped(text + *len, &at);
    }
    if (text)
        text[*len] = '\0';
    return text;
}

/* --- what is written --- */

static void mask_put(const struct mask *mask, FILE *out, const char *at, const char *end,
                     int depth);

/* A string may be JSON itself: a job's document is. If nothing in it is masked, its bytes stay. */
static void mask_put_string(const struct mask *mask, FILE *out, const char *from, const char *to,
                            const char *meant, size_t len, int depth)
{
    const char *first = mask_skip_space(meant, meant + len);
    char *inner = NULL;
    size_t inner_len = 0;
    FILE *into = *first == '{' || *first == '[' ? open_memstream(&inner, &inner_len) : NULL;

    if (into) {
        mask_put(mask, into, meant, meant + len, depth + 1);
        fclose(into);
    }
    if (inner && depth >= DEPTH)
        fputs("\"" MASKED "\"", out);
    else if (inner && (inner_len != len || memcmp(inner, meant, len) != 0))
        jsonl_string(out, inner, inner_len);
    else
        fwrite(from, 1, (size_t)(to - from), out);
    free(inner);
}

/* Writes the string from `from` to `to`. Returns where to go on: behind the value, if it is a
 * member's name that is masked. */
static const char *mask_put_one(const struct mask *mask, FILE *out, const char *from,
                                const char *to, const char *end, int depth)
{
    const char *behind = mask_skip_space(to, end);
    size_t len;
    char *meant = mask_decode(from, to, &len);

    if (!meant) {
        fputs("null", out); /* without memory; nothing must be seen */
    } else if (behind == end || *behind != ':') {
        mask_put_string(mask, out, from, to, meant, len, depth);
    } else {
        fwrite(from, 1, (size_t)(to - from), out);
        if (mask_has(mask, meant)) {
            fputs(":\"" MASKED "\"", out);
            to = mask_value_end(behind + 1, end);
        }
    }
    free(meant);
    return to;
}

static void mask_put(const struct mask *mask, FILE *out, const char *at, const char *end, int depth)
{
    const char *next;

    for (; at < end && depth <= DEPTH; at = next) {
        if (*at == '"') {
            next = mask_put_one(mask, out, at, mask_string_end(at, end), end, depth);
            continue;
        }
        next = memchr(at, '"', (size_t)(end - at));
        next = next ? next : end;
        fwrite(at, 1, (size_t)(next - at), out);
    }
}

char *mask_line(const struct mask *mask, const char *line, size_t *len)
{
    const char *end = line + *len;
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out)
        return NULL;
    mask_put(mask, out, line, end, 0);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
