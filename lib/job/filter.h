/*
 * filter.h: which jobs are meant: the conditions that `later kick`, `cancel`, `bury`, `purge`,
 * `count` and `export` take as options, and a search by other means. Pure.
 *
 * A condition is a name and a value, as a person writes them; a job is meant that meets all:
 *
 *     state     ready, delayed, reserved, dead, or done: one that is kept
 *     type      a glob: * stands for any characters, ? for one
 *     older     a duration: longer ago it became ready, was buried, or was done
 *     newer     a duration: less long ago
 *     error     a POSIX extended regular expression, found in the text of the last error
 *     kind      of the last error: retry timeout crash lapse bad buried unknown return
 *     attempts  a number, or one behind > >= < <= =
 *     where     PATH=VALUE: a value in the document (json_path.h): a string that is VALUE, a number
 *               that equals it, or true, false, null; may be given LATER_FILTER_WHERE_MAX times
 *     text      stands somewhere in the document, as it is written or as its escapes mean it
 *
 * Of a delayed job nobody knows since when it waits, only until when, and of one that somebody put
 * in with a score of 0 nobody knows anything: neither is older or newer than anything. What is no
 * JSON has no type and no values, but text.
 */
#ifndef LATER_FILTER_H
#define LATER_FILTER_H

#include "job/record.h"
#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>

#define LATER_FILTER_WHERE_MAX 8
#define LATER_FILTER_VALUE_MAX 256 /* bytes of a condition's value */

struct later_filter;

/* Meets everything until a condition is added. NULL without memory. */
struct later_filter *later_filter_new(void);
void later_filter_free(struct later_filter *filter);

/* The names of the conditions, up to NULL, in the order above. */
extern const char *const later_filter_names[];

/* Adds a condition; both words are copied. Returns 0, or -1 with *err (LATER_E_USAGE): no such
 * name, a value that it cannot have, one that was given before. */
int later_filter_add(struct later_filter *filter, const char *name, const char *value,
                     struct later_error *err);

/* Is no condition there but, perhaps, a state? That state, NULL = any. */
bool later_filter_is_plain(const struct later_filter *filter);
const char *later_filter_state(const struct later_filter *filter);

/* A job as it was seen; all borrowed. */
struct later_filter_job {
    const char *state;
    double score;               /* in the set of its state; of a reserved job, that in ready */
    struct later_record record; /* by later_record_read() */
    const char *document;       /* may be anything; NULL where none is read */
    size_t document_len;
};

/* now: by Redis's clock. Some microseconds, and a copy of the document for `text` alone. */
bool later_filter_meets(const struct later_filter *filter, const struct later_filter_job *job,
                        double now);

/* Since when, in UNIX seconds, the job has been in its state; < 0: nobody knows. */
double later_filter_since(const struct later_filter_job *job);

#endif
