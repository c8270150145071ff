/*
 * filter_match.h: how the values of a filter's conditions are compared with those of a job. Pure.
 * Each comparison takes time in proportion to what it reads, except globs and regular expressions,
 * whose length is bounded.
 */
#ifndef LATER_FILTER_MATCH_H
#define LATER_FILTER_MATCH_H

#include "job/json.h"

#include <stdbool.h>
#include <stdint.h>

/* A number behind > >= < <= =, or alone. */
struct later_filter_number {
    bool less, equal, more;
    int64_t number;
};
bool later_filter_number(const char *word, struct later_filter_number *number);
bool later_filter_counts(const struct later_filter_number *number, int64_t count);

/* The string that is the member `name` of a JSON object, cut to room - 1 bytes and NUL-terminated;
 * false where there is none. */
bool later_filter_string(const char *bytes, size_t len, const char *name, char *to, size_t room);

/* Does the text match a pattern of * and ?, whole? */
bool later_filter_glob(const char *pattern, const char *text);

/* Is the value the one that is written so? */
bool later_filter_equals(const struct later_json_member *value, const char *text);

/* Is the text in these bytes or, if they are JSON, in what they mean without escapes? */
bool later_filter_has(const char *bytes, size_t len, const char *text);

/* Could this regular expression take for ever, or all memory? */
bool later_filter_costly(const char *regex);

#endif
