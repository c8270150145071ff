/* json_path.c: finds a value deep inside a JSON document. */
#include "job/json_path.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 8 /* digits of a place in an array */

bool later_json_path_valid(const char *path)
{
    size_t piece = 0;

    if (strlen(path) > LATER_PATH_MAX)
        return false;
    for (; *path; path++) {
        if (*path <= ' ' || *path > '~' || *path == '"' || *path == '\\' ||
            (*path == '.' && piece == 0))
            return false;
        piece = *path == '.' ? 0 : piece + 1;
    }
    return piece > 0;
}

/* Returns the place after the string that begins here. */
static const char *json_path_skip_string(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* Returns the end of the element that begins here: a comma, or the end of its array. */
static const char *skip_element(const char *at)
{
    unsigned depth = 0;

    for (;;) {
        if (depth == 0 && (*at == ',' || *at == ']'))
            return at;
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at = *at == '"' ? json_path_skip_string(at) : at + 1;
    }
}

/* Finds an element of a scanned array. */
static bool find_element(struct later_json_member *found, const char *piece, size_t piece_len)
{
    const char *at = found->value + 1, *end;
    size_t left;

    if (strspn(piece, "0123456789") < piece_len || piece_len > DIGITS_MAX)
        return false;
    for (left = strtoul(piece, NULL, 10);; left--, at = end + 1) {
        while (later_json_is_space(*at))
            at++;
        end = skip_element(at);
        if (end == at) /* an empty array */
            return false;
        if (left == 0)
            break;
        if (*end == ']')
            return false;
    }
    while (later_json_is_space(end[-1]))
        end--;
    found->value = at;
    found->len = (size_t)(end - at);
    return true;
}

static bool find_member(struct later_json_member *found, const char *piece, size_t piece_len)
{
    char name[LATER_PATH_MAX + 1];
    struct later_json_member member = { .name = name };
    struct later_error ignored;

    memcpy(name, piece, piece_len);
    name[piece_len] = '\0';
    if (later_json_scan(found->value, found->len, &member, 1, &ignored) < 0 || !member.value)
        return false;
    found->value = member.value;
    found->len = member.len;
    return true;
}

bool later_json_path(const char *bytes, size_t len, const char *path,
                     struct later_json_member *found)
{
    while (len > 0 && later_json_is_space(*bytes)) {
        bytes++;
        len--;
    }
    *found = (struct later_json_member){ .value = bytes, .len = len };
    if (len == 0 || *bytes != '{') /* find_member() scans it first */
        return false;
    for (bool there = true; there; path++) {
        size_t piece_len = strcspn(path, ".");

        if (*found->value == '{')
            there = find_member(found, path, piece_len);
        else
            there = *found->value == '[' && find_element(found, path, piece_len);
        path += piece_len;
        if (!there || !*path)
            return there;
    }
    return false;
}
