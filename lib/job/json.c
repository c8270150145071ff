/* json.c: one pass over JSON. */
#include "job/json_inner.h"

#include <string.h>

#define NAME_SHOWN 64 /* bytes of a member's name that a message repeats */

/* What jansson could not hold. */
static const char *beyond(struct later_json_pass *pass, const char *at, const char *what)
{
    later_fail(pass->err, LATER_E_DATA, "%s at byte %zu", what, (size_t)(at - pass->start) + 1);
    return NULL;
}

/* Shows the name as it is written, not all of a long one, and no half of a character. */
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

static const char *read_number(struct later_json_pass *pass, const char *at)
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
        return at; /* too short to be large */
    }
    return later_json_overflows(from, at) ? beyond(pass, from, "number too large") : at;
}

static const char *read_word(struct later_json_pass *pass, const char *at, const char *word)
{
    const char *from = at;

    for (; *word; word++, at++) {
        if (at >= pass->end || *at != *word)
            return later_json_wrong(pass, at >= pass->end || !*at ? at : from, "invalid token");
    }
    return at;
}

/* ---- values */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

static const char *read_value(struct later_json_pass *pass, const char *at, unsigned depth);

static const char *read_array(struct later_json_pass *pass, const char *at, unsigned depth)
{
    at = skip_space(at + 1, pass->end);
    if (at < pass->end && *at == ']')
        return at + 1;
    while ((at = read_value(pass, at, depth))) {
        at = skip_space(at, pass->end);
        if (at < pass->end && *at == ']')
            return at + 1;
        if (at >= pass->end || *at != ',')
            return later_json_wrong(pass, at, "']' expected");
        at = skip_space(at + 1, pass->end);
    }
    return NULL;
}

/* `"name":`; the name is entered. */
static const char *read_name(struct later_json_pass *pass, const char *at)
{
    struct later_json_odd odd = { false, false };
    const char *name = at + 1;

    if (at >= pass->end || *at != '"')
        return later_json_wrong(pass, at, "string or '}' expected");
    if (!(at = later_json_string(pass, name, &odd)))
        return NULL;
    if (odd.nul)
        return beyond(pass, name, "\\u0000 in the name of a member");
    if (!later_json_names_add(&pass->names, name, (size_t)(at - 1 - name), odd.escaped)) {
        later_fail(pass->err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    at = skip_space(at, pass->end);
    if (at >= pass->end || *at != ':')
        return later_json_wrong(pass, at, "':' expected");
    return skip_space(at + 1, pass->end);
}

static bool is_looked_for(const struct later_json_name *name, const char *plain)
{
    if (!name->escaped && name->len > 0 && *name->text != *plain) /* nearly always */
        return false;
    return later_json_named(name, plain);
}

/* The last name is of a member of the outermost object, whose value ends at `end`. */
static void note_member(struct later_json_pass *pass, const char *value, const char *end)
{
    const struct later_json_name *name = &pass->names.list[pass->names.count - 1];
    struct later_json_member *other = NULL, *member;

    for (size_t i = 0; i < pass->count; i++) {
        member = &pass->members[i];
        if (!member->name) {
            other = member;
        } else if (is_looked_for(name, member->name)) {
            member->value = value;
            member->len = (size_t)(end - value);
            return;
        }
    }
    if (other && !other->value) {
        other->value = name->text - 1;
        other->len = name->len + 2;
    }
}

static const char *close_object(struct later_json_pass *pass, const char *at, size_t from)
{
    const struct later_json_name *twice = later_json_names_close(&pass->names, from);

    return twice ? duplicate(pass, twice) : at + 1;
}

static const char *read_object(struct later_json_pass *pass, const char *at, unsigned depth)
{
    size_t from = pass->names.count;
    const char *value;

    at = skip_space(at + 1, pass->end);
    if (at < pass->end && *at == '}')
        return at + 1;
    while ((value = read_name(pass, at)) && (at = read_value(pass, value, depth))) {
        if (depth == 1)
            note_member(pass, value, at);
        at = skip_space(at, pass->end);
        if (at < pass->end && *at == '}')
            return close_object(pass, at, from);
        if (at >= pass->end || *at != ',')
            return later_json_wrong(pass, at, "'}' expected");
        at = skip_space(at + 1, pass->end);
    }
    return NULL;
}

static const char *read_nested(struct later_json_pass *pass, const char *at, unsigned depth)
{
    if (depth > LATER_JSON_DEPTH) {
        later_fail(pass->err, LATER_E_DATA, "nested deeper than %d", LATER_JSON_DEPTH);
        return NULL;
    }
    return *at == '[' ? read_array(pass, at, depth) : read_object(pass, at, depth);
}

/* depth: of what it is in. */
static const char *read_value(struct later_json_pass *pass, const char *at, unsigned depth)
{
    struct later_json_odd odd = { false, false };

    switch (at < pass->end ? *at : '\0') {
    case '"':
        return later_json_string(pass, at + 1, &odd);
    case '{':
    case '[':
        return read_nested(pass, at, depth + 1);
    case 't':
        return read_word(pass, at, "true");
    case 'f':
        return read_word(pass, at, "false");
    case 'n':
        return read_word(pass, at, "null");
    case '}':
    case ']':
    case ',':
    case ':':
        return later_json_wrong(pass, at, "unexpected token");
    default:
        return at < pass->end && (*at == '-' || (*at >= '0' && *at <= '9'))
                   ? read_number(pass, at)
                   : later_json_wrong(pass, at, "invalid token");
    }
}

int later_json_scan(const char *bytes, size_t len, struct later_json_member *members, size_t count,
                    struct later_error *err)
{
    struct later_json_pass pass; /* not zeroed: it is large */
    const char *at;

    if (len > LATER_JSON_MAX)
        return later_fail(err, LATER_E_DATA, "too large: %zu bytes", len);
    pass.start = bytes;
    pass.end = bytes + len;
    pass.members = members;
    pass.count = count;
    pass.err = err;
    for (size_t i = 0; i < count; i++)
        members[i].value = NULL;
    later_json_names_init(&pass.names, pass.end);
    at = read_value(&pass, skip_space(bytes, pass.end), 0);
    later_json_names_free(&pass.names);
    if (!at)
        return -1;
    at = skip_space(at, pass.end);
    if (at < pass.end)
        later_json_wrong(&pass, at, "more behind its end");
    return at < pass.end ? -1 : 0;
}
