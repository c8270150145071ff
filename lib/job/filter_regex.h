/*
 * filter_regex.h: a regular expression that somebody wrote, and what it may cost. Pure but for the
 * thread's processor clock and the size of the heap.
 *
 * glibc builds an automaton out of it, before and while it searches, which a short expression can
 * make as large and as slow as it likes. So counts are bounded before, and time and memory while.
 */
#ifndef LATER_FILTER_REGEX_H
#define LATER_FILTER_REGEX_H

#include "later/error.h"

#include <stdbool.h>

struct later_filter_regex;

/* Makes it of a POSIX extended regular expression, whose length the caller bounds. Returns NULL
 * with *err (LATER_E_USAGE): it is not one, or is too costly. */
struct later_filter_regex *later_filter_regex_new(const char *text, struct later_error *err);
void later_filter_regex_free(struct later_filter_regex *regex); /* NULL is allowed */

/* Is it found in the text? Always false once it has given up. */
bool later_filter_regex_found(struct later_filter_regex *regex, const char *text);

/* Has it taken too long: more than 0.05 s, and 0.5 ms for each part of a text (64 bytes, 128 …); or
 * more than 8 MiB within one text? Then some were not searched. */
bool later_filter_regex_gave_up(const struct later_filter_regex *regex);

#endif
