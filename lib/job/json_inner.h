/*
 * json_inner.h: what json*.c share.
 */
#ifndef LATER_JSON_INNER_H
#define LATER_JSON_INNER_H

#include "job/json.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LATER_JSON_NAMES 512 /* open at once without asking for memory */

/* The name of a member, as written between its quotes. */
struct later_json_name {
    uint64_t key; /* its first 8 bytes decoded, the first one highest: names sort by it */
    const char *text;
    uint32_t len;
    bool escaped; /* it has escapes */
};

/* The names of all open objects, those of the innermost one last. */
struct later_json_names {
    const char *end; /* the end of the bytes */
    struct later_json_name *list;
    size_t count, room;
    struct later_json_name own[LATER_JSON_NAMES];
};

void later_json_names_init(struct later_json_names *names, const char *end);
void later_json_names_free(struct later_json_names *names);

/* Adds a name of the innermost object. Returns false without memory. */
bool later_json_names_add(struct later_json_names *names, const char *text, size_t len,
                          bool escaped);

/* The same for a short name, if there is room: its key is known, and it has no escapes. */
static inline void later_json_names_put(struct later_json_names *names, const char *text,
                                        size_t len, uint64_t key)
{
    names->list[names->count++] =
        (struct later_json_name){ .key = key, .text = text, .len = (uint32_t)len };
}

/* Closes the innermost object, whose names begin at `from`. If a name is there twice, returns the
 * second, which is valid until the next name is added; else NULL. */
const struct later_json_name *later_json_names_close(struct later_json_names *names, size_t from);

/* Is `plain` its name, however it is written? */
bool later_json_named(const struct later_json_name *name, const char *plain);

/* Decodes the character or byte at `at` within a string into 1 to 4 bytes. Returns where the next
 * one is. */
const char *later_json_next(const char *at, char out[4], size_t *len);

/* Does a number of the right form round to infinity? */
bool later_json_overflows(const char *number, const char *end);

/* ---- the pass */

#define LATER_JSON_ARRAY UINT32_MAX /* a level that is an array and has no names */

/* Functions that read something take the place where it begins, and return the place after it, or
 * NULL after reporting what is wrong. */
struct later_json_pass {
    const char *start, *end;
    struct later_json_member *members;
    size_t count;
    struct later_error *err;
    const char *value;                 /* where the last value of the outermost object begins */
    bool escaped, nul;                 /* of the name being read: it has escapes; it has U+0000 */
    unsigned depth;                    /* how many arrays and objects are open */
    uint32_t levels[LATER_JSON_DEPTH]; /* for each of them, where its names begin */
    struct later_json_names names;
};

/* Says what is wrong at this byte. Returns NULL. */
const char *later_json_wrong(struct later_json_pass *pass, const char *at, const char *what);

/* Reads a string after its opening quote. Sets pass->escaped and pass->nul if it has such; clears
 * neither. */
const char *later_json_read_string(struct later_json_pass *pass, const char *at);

/* ---- eight bytes at once */

#define LATER_JSON_EACH(byte) (0x0101010101010101U * (byte))

static inline uint64_t later_json_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

/* Returns which of these bytes end a run of plain ASCII: a quote, a backslash, a control or
 * non-ASCII byte. Their high bits are set. The first one is right; bytes after it may be wrong,
 * because of a borrow (Warren, Hacker's Delight, 6-1; `| word` takes the place of masking at the
 * end). */
static inline uint64_t later_json_stops(uint64_t word)
{
    uint64_t quote = (word ^ LATER_JSON_EACH('"')) - LATER_JSON_EACH(1);
    uint64_t backslash = (word ^ LATER_JSON_EACH('\\')) - LATER_JSON_EACH(1);
    uint64_t control = word - LATER_JSON_EACH(' ');

    return (quote | backslash | control | word) & LATER_JSON_EACH(0x80);
}

/* Returns the first stop, 0 to 7. There must be one. */
static inline size_t later_json_first(uint64_t stops)
{
    return (size_t)__builtin_ctzll(stops) >> 3;
}

#endif
