/* document_json.c: JSON within bounds, and where a member's bytes are. */
#include "job/document_json.h"

#include "job/document.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#define FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY)

#define NAME_SHOWN 64 /* bytes of a member's name that a message repeats */
#define NAME_MAX   32 /* see later_document_find() */

/* ---- a scanner that knows strings and brackets, nothing else; it stays within len for any bytes
 */

/* From the opening quote to the closing one; len if there is none. */
static size_t string_end(const char *bytes, size_t len, size_t at)
{
    for (at++; at < len && bytes[at] != '"'; at++) {
        if (bytes[at] == '\\')
            at++;
    }
    return at < len ? at : len;
}

/* Up to where jansson will find its first fault this sees the same strings and brackets as jansson,
 * so that jansson never recurses deeper than it says. */
static bool too_deep(const char *bytes, size_t len)
{
    size_t depth = 0;

    for (size_t at = 0; at < len; at++) {
        switch (bytes[at]) {
        case '"':
            at = string_end(bytes, len, at);
            break;
        case '{':
        case '[':
            if (++depth > LATER_DOCUMENT_DEPTH)
                return true;
            break;
        case '}':
        case ']':
            if (depth-- == 0)
                return false; /* not JSON */
            break;
        default:
            break;
        }
    }
    return false;
}

static size_t skip_space(const char *bytes, size_t len, size_t at)
{
    while (at < len &&
           (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\t' || bytes[at] == '\r'))
        at++;
    return at;
}

/* From the first byte of a string, an array or an object to the one behind it. */
static size_t nested_end(const char *bytes, size_t len, size_t at)
{
    size_t depth = 0;

    for (; at < len; at++) {
        if (bytes[at] == '"')
            at = string_end(bytes, len, at);
        else if (bytes[at] == '{' || bytes[at] == '[')
            depth++;
        else if (bytes[at] == '}' || bytes[at] == ']')
            depth--;
        if (depth == 0)
            break;
    }
    return at < len ? at + 1 : len;
}

static size_t value_end(const char *bytes, size_t len, size_t at)
{
    if (at < len && (bytes[at] == '"' || bytes[at] == '{' || bytes[at] == '['))
        return nested_end(bytes, len, at);
    while (at < len && !strchr(",}] \n\t\r", bytes[at])) /* ends at a NUL byte, too */
        at++;
    return at;
}

/* ---- members */

/* Are these bytes, with their quotes, that name? Nearly always they can be compared as they stand;
 * jansson decodes a name that is written with escapes. */
static bool is_name(const char *quoted, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    bool same = false;
    json_t *decoded;

    if (len == name_len + 2)
        return memcmp(quoted + 1, name, name_len) == 0;
    if (len < name_len + 2 || len > 6 * NAME_MAX + 2 || !memchr(quoted, '\\', len))
        return false;
    decoded = json_loadb(quoted, len, JSON_DECODE_ANY, NULL);
    if (json_is_string(decoded))
        same = strcmp(json_string_value(decoded), name) == 0;
    json_decref(decoded);
    return same;
}

bool later_document_find(const char *bytes, size_t len, const char *name, const char **value,
                         size_t *value_len)
{
    size_t at = skip_space(bytes, len, 0) + 1; /* behind the brace */

    while (at < len) {
        size_t from = skip_space(bytes, len, at);
        size_t to = from < len && bytes[from] == '"' ? string_end(bytes, len, from) : len;
        size_t start = skip_space(bytes, len, to + 1); /* at the colon */
        size_t end;

        if (to == len || start >= len)
            return false; /* no member left */
        start = skip_space(bytes, len, start + 1);
        end = value_end(bytes, len, start);
        if (is_name(bytes + from, to + 1 - from, name)) {
            *value = bytes + start;
            *value_len = end - start;
            return true;
        }
        at = skip_space(bytes, len, end) + 1; /* behind the comma */
    }
    return false;
}

/* ---- refusals: in words of our own, with nothing of the bytes but the start of a name */

/* jansson stopped behind the second of two equal names: shows it as it is written there. */
static int duplicate(const char *bytes, size_t stop, struct later_error *err)
{
    size_t start = stop - 1, shown;

    do { /* back to the opening quote, the first without a backslash that escapes it */
        size_t slashes = 0;

        start--;
        while (slashes < start && bytes[start - 1 - slashes] == '\\')
            slashes++;
        if (bytes[start] == '"' && slashes % 2 == 0)
            break;
    } while (start > 0);
    shown = stop - start - 2;
    if (shown > NAME_SHOWN) {
        for (shown = NAME_SHOWN; ((unsigned char)bytes[start + 1 + shown] & 0xC0) == 0x80;)
            shown--;
    }
    return later_fail(err, LATER_E_DATA, "duplicate member \"%.*s%s\"", (int)shown,
                      bytes + start + 1, shown < stop - start - 2 ? "…" : "");
}

static int refuse(const char *bytes, size_t len, json_error_t *why, struct later_error *err)
{
    size_t stop = why->position > 0 ? (size_t)why->position : 0;
    char *near = strstr(why->text, " near ");

    switch (json_error_code(why)) {
    case json_error_duplicate_key:
        if (stop > 2 && stop <= len)
            return duplicate(bytes, stop, err);
        return later_fail(err, LATER_E_DATA, "duplicate member");
    case json_error_numeric_overflow:
        return later_fail(err, LATER_E_DATA, "number too large at byte %zu", stop);
    case json_error_null_byte_in_key:
        return later_fail(err, LATER_E_DATA, "\\u0000 in the name of a member at byte %zu", stop);
    case json_error_invalid_utf8:
        return later_fail(err, LATER_E_DATA, "not JSON: bad UTF-8 at byte %zu", stop + 1);
    case json_error_premature_end_of_input:
        return later_fail(err, LATER_E_DATA, "not JSON: ends too early, at byte %zu", stop);
    case json_error_end_of_input_expected:
        return later_fail(err, LATER_E_DATA, "not JSON: more behind its end at byte %zu", stop);
    default:
        break;
    }
    if (near)
        *near = '\0';
    return later_fail(err, LATER_E_DATA, "not JSON: %s at byte %zu", why->text, stop);
}

json_t *later_document_json(const char *bytes, size_t len, struct later_error *err)
{
    const char *nul = memchr(bytes, '\0', len);
    json_error_t why;
    json_t *root;

    if (nul) { /* jansson overlooks it behind a number (2.14) */
        later_fail(err, LATER_E_DATA, "not JSON: NUL byte at byte %zu", (size_t)(nul - bytes) + 1);
        return NULL;
    }
    if (too_deep(bytes, len)) {
        later_fail(err, LATER_E_DATA, "nested deeper than %d", LATER_DOCUMENT_DEPTH);
        return NULL;
    }
    errno = 0;
    root = json_loadb(bytes, len, FLAGS, &why);
    /* jansson says "invalid token" where it got no memory: a good job must not be buried for it. */
    if (!root && (errno == ENOMEM || !why.text[0]))
        later_fail(err, LATER_E_SYSTEM, "no memory");
    else if (!root)
        refuse(bytes, len, &why, err);
    return root;
}
