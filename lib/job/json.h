/*
 * json.h: one pass over JSON, which says whether it is valid and where the members of the outermost
 * object are. It makes no values and rewrites nothing; a document is read in place.
 *
 * What it takes is what jansson 2.14 takes with JSON_REJECT_DUPLICATES, JSON_ALLOW_NUL,
 * JSON_DECODE_ANY and JSON_DECODE_INT_AS_REAL (tests/unit/lib/test_json.c compares them), except
 * nesting beyond LATER_JSON_DEPTH, and NUL bytes, which jansson overlooks after a number. So a
 * handler can parse every payload with jansson.
 */
#ifndef LATER_JSON_H
#define LATER_JSON_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/* @bounds depth_max: #define {constant} {number} /@ {help} @/ */
#define LATER_JSON_DEPTH 128 /* arrays and objects of a document within each other */
/* @end */
/* clang-format on */
#define LATER_JSON_MAX ((size_t)1 << 30) /* bytes */

/* A member to look for. Set name to plain ASCII with nothing to escape; or to NULL for the first
 * member that is not looked for. */
struct later_json_member {
    const char *name;
    const char *value; /* within the bytes scanned, without white space; NULL: there is none. if the
                        * name is NULL: the name that was found, with its quotes */
    size_t len;
};

/* Scans one JSON value (RFC 8259) with nothing after it but white space. If it is an object, finds
 * `count` members, however their names are written. Refuses what jansson cannot hold: two members
 * of one object with equal names, at any depth; U+0000 in a name; a number that rounds to infinity;
 * half a surrogate pair. Returns 0; or -1 with *err and *members undefined. LATER_E_DATA: the text
 * says what is wrong, and at which byte, from 1; it shows at most the start of a name.
 * LATER_E_SYSTEM: no memory, which is needed only if more than 512 names are open at once. */
int later_json_scan(const char *bytes, size_t len, struct later_json_member *members, size_t count,
                    struct later_error *err);

/* ---- of values that later_json_scan() took; a number is within an object or array */

/* Decodes a string, given with its quotes, into `to`, of which `room` bytes are used at most.
 * Returns its length, which may be more, and counts U+0000. */
size_t later_json_text(const char *value, size_t len, char *to, size_t room);

/* Returns the number that begins here, rounded as usual. */
double later_json_double(const char *value);

/* ---- of any bytes */

/* Is it white space, as it may stand between values? */
static inline bool later_json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Returns how many bytes the UTF-8 character at `text` has, 1 to 4; 0 if it is none (RFC 3629,
 * section 4). len: at least 1. */
size_t later_json_utf8(const unsigned char *text, size_t len);

#endif
