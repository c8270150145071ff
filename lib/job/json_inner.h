/*
 * json_inner.h: what json*.c share.
 */
#ifndef LATER_JSON_INNER_H
#define LATER_JSON_INNER_H

#include "job/json.h"

#include <stdbool.h>
#include <stdint.h>

#define LATER_JSON_NAMES 512 /* open at once without asking for memory */

/* The name of a member, as written between its quotes. */
struct later_json_name {
    uint64_t key; /* its first 8 bytes decoded, the first one highest: names sort by it */
    const char *text;
    uint32_t len;
    bool escaped; /* there are escapes in it */
};

/* The names of all objects that are open: those of the innermost last. */
struct later_json_names {
    const char *end; /* of all bytes */
    struct later_json_name *list;
    size_t count, room;
    struct later_json_name own[LATER_JSON_NAMES];
};

void later_json_names_init(struct later_json_names *names, const char *end);
void later_json_names_free(struct later_json_names *names);

/* Adds a name of the innermost object. Returns false without memory. */
bool later_json_names_add(struct later_json_names *names, const char *text, size_t len,
                          bool escaped);

/* Closes the innermost object, whose names begin at `from`. Returns a name that is there twice,
 * the second of them, until the next name is added; NULL if there is none. */
const struct later_json_name *later_json_names_close(struct later_json_names *names, size_t from);

/* Is that its name, however it is written? */
bool later_json_named(const struct later_json_name *name, const char *plain);

/* Decodes the character or byte at `at` within a string into 1 to 4 bytes. Returns where the next
 * one is. */
const char *later_json_next(const char *at, char out[4], size_t *len);

/* Does a number of the right form round to infinity? */
bool later_json_overflows(const char *number, const char *end);

/* ---- the pass */

/* Functions that read something take the place where it begins and return the one behind it, or
 * NULL where they have said what is wrong. */
struct later_json_pass {
    const char *start, *end;
    struct later_json_names names;
    struct later_json_member *members;
    size_t count;
    struct later_error *err;
};

/* Says what is wrong at this byte. Returns NULL. */
const char *later_json_wrong(struct later_json_pass *pass, const char *at, const char *what);

/* What is in a string besides plain characters. */
struct later_json_odd {
    bool escaped, nul;
};

/* Reads a string from behind its opening quote. */
const char *later_json_string(struct later_json_pass *pass, const char *at,
                              struct later_json_odd *odd);

#endif
