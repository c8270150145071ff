/*
 * filter_match.h: compares the values of a filter's conditions with those of a job. Pure. Each
 * comparison takes time in proportion to what it reads, except globs, whose length is
 * bounded.
 */
#ifndef LATER_FILTER_MATCH_H
#define LATER_FILTER_MATCH_H

#include "job/json.h"

#include <stdbool.h>
#include <stdint.h>

/* A number after > >= < <= =, or alone. */
struct later_filter_number {
    bool less, equal, more;
    int64_t number;
};
bool later_filter_number(const char *word, struct later_filter_number *number);
bool later_filter_counts(const struct later_filter_number *number, int64_t count);

/* Copies the string member `name` of a JSON object, cut to room - 1 bytes and NUL-terminated; false
 * if there is none. */
bool later_filter_string(const char *bytes, size_t len, const char *name, char *to, size_t room);

/* Does the whole text match a pattern of * and ? */
bool later_filter_glob(const char *pattern, const char *text);

/* Is the value equal to this text? */
bool later_filter_equals(const struct later_json_member *value, const char *text);

/* Is the text in these bytes or, if they are JSON, in them with escapes decoded? */
bool later_filter_has(const char *bytes, size_t len, const char *text);

#endif
