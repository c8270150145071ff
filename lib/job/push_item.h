/*
 * push_item.h: a job to push, in the form that is sent. Callers of the library fill struct
 * later_new_job (later/client.h) instead. Pure.
 */
#ifndef LATER_PUSH_ITEM_H
#define LATER_PUSH_ITEM_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATER_AT_MIN 1e9 /* UNIX seconds, in 2001; a smaller number was meant as a duration */

/* One job. Zeroed, it has no options. All is borrowed. */
struct later_push_item {
    const char *id; /* NULL: none of its own yet */
    const char *document;
    size_t document_len;
    int32_t priority; /* -100 … 100 */
    /* As in struct later_new_job; 0 = not said. */
    double in, at, unique_for, debounce, max_wait, throttle, expires_in;
    bool replace, again;
    bool has_expires_at; /* its document has that already */
};

/* May these members be used together? Returns 0, or -1 with *err (LATER_E_DATA), which names the
 * members. */
int later_push_check(const struct later_push_item *item, struct later_error *err);

/* Is this a time at which a job may expire? One before 2001 was meant as a duration, and would lose
 * the job. Returns 0, or -1 with *err (LATER_E_DATA). */
int later_push_expires(double at, struct later_error *err);

#endif
