/* json.c: one pass over JSON. */
#include "job/json_inner.h"

#include "base/uncleared.h"

#include <string.h>

#define NAME_SHOWN 64 /* bytes of a name that a message shows */

/* Reports something that jansson cannot hold. */
static const char *beyond(struct later_json_pass *pass, const char *at, const char *what)
{
    later_fail(pass->err, LATER_E_DATA, "%s at byte %zu", what, (size_t)(at - pass->start) + 1);
    return NULL;
}

/* Reports a duplicate name as it is written. A long one is cut between characters. */
static const char *duplicate(struct later_json_pass *pass, const struct later_json_name *name)
{
    int shown = name->len < NAME_SHOWN ? (int)name->len : NAME_SHOWN;

    while (shown < (int)name->len && ((unsigned char)name->text[shown] & 0xC0) == 0x80)
        shown--;
    later_fail(pass->err, LATER_E_DATA, "duplicate member \"%.*s%s\"", shown, name->text,
               shown < (int)name->len ? "…" : "");
    return NULL;
}

/* ---- numbers and words */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static const char *json_read_number(struct later_json_pass *pass, const char *at)
{
    const char *from = at, *digits = at + (*at == '-'), *end = pass->end;

    at = skip_digits(digits, end);
    if (at == digits)
        return later_json_wrong(pass, at, "invalid token");
    if (*digits == '0' && at - digits > 1)
        return later_json_wrong(pass, digits + 1, "invalid token");
    if (at < end && *at == '.') {
        digits = at + 1;
        if ((at = skip_digits(digits, end)) == digits)
            return later_json_wrong(pass, at, "invalid token");
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        digits = at + 1;
        digits += digits < end && (*digits == '+' || *digits == '-');
        if ((at = skip_digits(digits, end)) == digits)
            return later_json_wrong(pass, at, "invalid token");
    } else if (at - from < 309) {
        return at; /* too short to overflow */
    }
    return later_json_overflows(from, at) ? beyond(pass, from, "number too large") : at;
}

static const char *json_read_word(struct later_json_pass *pass, const char *at, const char *word)
{
    const char *from = at;

    if (pass->end - at >= 4 && memcmp(at, word, 4) == 0) {
        at += 4;
        word += 4;
    }
    for (; *word; word++, at++) {
        if (at >= pass->end || *at != *word)
            return later_json_wrong(pass, at >= pass->end || !*at ? at : from, "invalid token");
    }
    return at;
}

/* ---- strings and names */

static inline const char *json_skip_space(const char *at, const char *end)
{
    if (at<end && * at> ' ') /* nearly always */
        return at;
    while (at < end && later_json_is_space(*at))
        at++;
    return at;
}

static inline bool is_at(const struct later_json_pass *pass, const char *at, char byte)
{
    return at < pass->end && *at == byte;
}

/* Reads a string from its opening quote. Most are short and plain, and need no call. */
static inline const char *read_string(struct later_json_pass *pass, const char *at)
{
    const char *text = ++at;

    for (unsigned words = 0; words < 2 && pass->end - at >= 8; words++, at += 8) {
        uint64_t stops = later_json_stops(later_json_word(at));

        if (!stops)
            continue;
        at += later_json_first(stops);
        if (*at == '"')
            return at + 1;
        break;
    }
    return later_json_read_string(pass, text);
}

/* Reads a name that is long, or has other than plain characters. */
static const char *read_odd_name(struct later_json_pass *pass, const char *at)
{
    const char *name = at + 1;

    if (!is_at(pass, at, '"'))
        return later_json_wrong(pass, at, "string or '}' expected");
    pass->escaped = pass->nul = false;
    if (!(at = later_json_read_string(pass, name)))
        return NULL;
    if (pass->nul)
        return beyond(pass, name, "\\u0000 in the name of a member");
    if (!later_json_names_add(&pass->names, name, (size_t)(at - 1 - name), pass->escaped)) {
        later_fail(pass->err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    return at;
}

/* Reads a name and enters it. Most have up to seven plain characters, which fit into one word. */
static inline const char *json_read_name(struct later_json_pass *pass, const char *at)
{
    uint64_t word, stops;
    size_t len;

    if (pass->end - at <= 8 || *at != '"' || pass->names.count == pass->names.room)
        return read_odd_name(pass, at);
    word = later_json_word(at + 1);
    stops = later_json_stops(word);
    len = stops ? later_json_first(stops) : 0;
    if (!stops || at[1 + len] != '"')
        return read_odd_name(pass, at);
    word &= ((uint64_t)1 << 8 * len) - 1;
    later_json_names_put(&pass->names, at + 1, len, __builtin_bswap64(word));
    return at + len + 2;
}

static bool is_looked_for(const struct later_json_name *name, const char *plain)
{
    if (!name->escaped && name->len > 0 && *name->text != *plain) /* nearly always */
        return false;
    return later_json_named(name, plain);
}

/* Notes a member of the outermost object, whose name was the last and whose value ends at `end`. */
static void note_member(struct later_json_pass *pass, const char *end)
{
    const struct later_json_name *name = &pass->names.list[pass->names.count - 1];
    struct later_json_member *other = NULL, *member;

    for (size_t i = 0; i < pass->count; i++) {
        member = &pass->members[i];
        if (!member->name) {
            other = member;
        } else if (is_looked_for(name, member->name)) {
            member->value = pass->value;
            member->len = (size_t)(end - pass->value);
            return;
        }
    }
    if (other && !other->value) {
        other->value = name->text - 1;
        other->len = name->len + 2;
    }
}

/* ---- arrays and objects */

static inline bool in_object(const struct later_json_pass *pass)
{
    return pass->levels[pass->depth - 1] != LATER_JSON_ARRAY;
}

/* Reads `"name":`, or nothing in an array. */
static inline const char *before_value(struct later_json_pass *pass, const char *at)
{
    at = json_skip_space(at, pass->end);
    if (!in_object(pass))
        return at;
    if (!(at = json_read_name(pass, at)))
        return NULL;
    if (!is_at(pass, at, ':')) {
        at = json_skip_space(at, pass->end);
        if (!is_at(pass, at, ':'))
            return later_json_wrong(pass, at, "':' expected");
    }
    at = json_skip_space(at + 1, pass->end);
    if (pass->depth == 1)
        pass->value = at;
    return at;
}

/* An array or object ends. */
static inline const char *close_nested(struct later_json_pass *pass, const char *at)
{
    uint32_t from = pass->levels[--pass->depth];
    const struct later_json_name *twice =
        from == LATER_JSON_ARRAY ? NULL : later_json_names_close(&pass->names, from);

    return twice ? duplicate(pass, twice) : at + 1;
}

static inline bool is_closed(const struct later_json_pass *pass, const char *at)
{
    return is_at(pass, at, in_object(pass) ? '}' : ']');
}

/* A value has ended, and perhaps what it is in. Returns the place after the comma, if another
 * follows; after the outermost value, if that has ended. */
static inline const char *after_value(struct later_json_pass *pass, const char *at)
{
    while (at && pass->depth > 0) {
        if (pass->depth == 1 && in_object(pass))
            note_member(pass, at);
        at = json_skip_space(at, pass->end);
        if (is_at(pass, at, ','))
            return at + 1;
        if (!is_closed(pass, at))
            return later_json_wrong(pass, at, in_object(pass) ? "'}' expected" : "']' expected");
        at = close_nested(pass, at);
    }
    return at;
}

/* Begins an array or object. Returns where its first value may be. */
static inline const char *open_nested(struct later_json_pass *pass, const char *at)
{
    if (pass->depth == LATER_JSON_DEPTH) {
        later_fail(pass->err, LATER_E_DATA, "nested deeper than %d", LATER_JSON_DEPTH);
        return NULL;
    }
    pass->levels[pass->depth++] = *at == '{' ? (uint32_t)pass->names.count : LATER_JSON_ARRAY;
    return json_skip_space(at + 1, pass->end);
}

/* Reads a word, or reports that there is no such value. */
static const char *read_other(struct later_json_pass *pass, const char *at, char first)
{
    switch (first) {
    case 't':
        return json_read_word(pass, at, "true");
    case 'f':
        return json_read_word(pass, at, "false");
    case 'n':
        return json_read_word(pass, at, "null");
    case '}':
    case ']':
    case ',':
    case ':':
        return later_json_wrong(pass, at, "unexpected token");
    default:
        return later_json_wrong(pass, at, "invalid token");
    }
}

static inline const char *read_scalar(struct later_json_pass *pass, const char *at, char first)
{
    if (first == '"')
        return read_string(pass, at);
    if ((first >= '0' && first <= '9') || first == '-')
        return json_read_number(pass, at);
    return read_other(pass, at, first);
}

/* Each turn reads a scalar, or the beginning of an array or object. */
static const char *json_read_value(struct later_json_pass *pass, const char *at)
{
    do {
        char first = '\0';
        bool ended = true;

        if (at < pass->end)
            first = *at;
        if (first != '{' && first != '[')
            at = read_scalar(pass, at, first);
        else if ((at = open_nested(pass, at)) && (ended = is_closed(pass, at)))
            at = close_nested(pass, at);
        if (ended)
            at = after_value(pass, at);
        if (at && pass->depth > 0)
            at = before_value(pass, at);
    } while (at && pass->depth > 0);
    return at;
}

int later_json_scan(const char *bytes, size_t len, struct later_json_member *members, size_t count,
                    struct later_error *err)
{
    struct later_json_pass pass LATER_UNCLEARED; /* it is large */
    const char *at;

    if (len > LATER_JSON_MAX)
        return later_fail(err, LATER_E_DATA, "too large: %zu bytes", len);
    pass.start = bytes;
    pass.end = bytes + len;
    pass.members = members;
    pass.count = count;
    pass.err = err;
    pass.escaped = pass.nul = false;
    pass.depth = 0;
    for (size_t i = 0; i < count; i++)
        members[i].value = NULL;
    later_json_names_init(&pass.names, pass.end);
    at = json_read_value(&pass, json_skip_space(bytes, pass.end));
    later_json_names_free(&pass.names);
    if (!at)
        return -1;
    at = json_skip_space(at, pass.end);
    if (at < pass.end)
        later_json_wrong(&pass, at, "more after its end");
    return at < pass.end ? -1 : 0;
}
