/*
 * filter.h: the conditions that choose jobs: `later kick`, `cancel`, `bury`, `export` and `search`
 * take them as options. Pure.
 *
 * A condition is a name and a value, as a person writes them; a job matches if it meets all:
 *
 *     state     ready, delayed, reserved, dead, or done: one that is kept
 *     type      a glob: * stands for any characters, ? for one
 *     older     a duration: longer ago it became ready, was buried, or was done
 *     newer     a duration: less long ago
 *     error     a POSIX extended regular expression, found in the text of the last error
 *     kind      of the last error (ending.h)
 *     host      on which that attempt ran
 *     attempts  a number, or one after > >= < <= =
 *     priority  the same; 0 for most jobs
 *     where     PATH=VALUE: a value in the document (json_path.h): a string that is VALUE, a number
 *               that equals it, or true, false, null; may be given LATER_FILTER_WHERE_MAX times
 *     text      is somewhere in the document, as it is written or with its escapes decoded
 *     not       NAME:VALUE: the job does not meet this condition: state, type, kind, host,
 *               attempts, priority, where or text; may be given LATER_FILTER_MANY times
 *
 * Of several types, and of several kinds, one must be met; at most LATER_FILTER_MANY of each. A job
 * that has no type, or no error, meets the `not` of each type and kind.
 *
 * A delayed job has no age, since nobody knows since when it waits. Nor has a job that was pushed
 * with a score of 0. Neither is older or newer than anything. A document that is not JSON has no
 * type and no values, only text.
 */
#ifndef LATER_FILTER_H
#define LATER_FILTER_H

#include "job/record.h"
#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

#define LATER_FILTER_WHERE_MAX 8
#define LATER_FILTER_MANY      8   /* types, kinds, and conditions turned round */
#define LATER_FILTER_VALUE_MAX 256 /* bytes of a condition's value */

struct later_filter;

/* Makes a filter that every job meets until a condition is added. NULL without memory. */
struct later_filter *later_filter_new(void);
void later_filter_free(struct later_filter *filter);

/* The names of the conditions, up to NULL, in the order above. */
extern const char *const later_filter_names[];

/* Adds a condition; both words are copied. Returns 0, or -1 with *err (LATER_E_USAGE): no such
 * name, a value that it cannot have, one that was given before. */
int later_filter_add(struct later_filter *filter, const char *name, const char *value,
                     struct later_error *err);

/* Is there no condition except perhaps a state? Sets *state to that state, NULL = any. */
bool later_filter_is_plain(const struct later_filter *filter);
const char *later_filter_state(const struct later_filter *filter);

/* A job as it was seen; all borrowed. */
struct later_filter_job {
    const char *state;
    double now;   /* by Redis's clock */
    double score; /* in the set of its state; for a reserved job, its score in ready */
    struct later_record record; /* by later_record_read() */
    const char *document;       /* may be anything; NULL if it is not needed */
    size_t document_len;
};

/* Does the job meet all conditions? Takes some microseconds; only `text` copies the document. */
bool later_filter_meets(const struct later_filter *filter, const struct later_filter_job *job);

/* Ask this after a job that does not meet them. Returns 0; or -1 with *err (LATER_E_USAGE) if a
 * condition has taken too long (filter_regex.h), and from then on none is met. */
int later_filter_check(const struct later_filter *filter, struct later_error *err);

/* Returns since when the job has been in its state, in UNIX seconds; < 0: not known. */
double later_filter_since(const struct later_filter_job *job);

#endif
