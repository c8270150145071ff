/*
 * instant.h: reads an instant as people and programs write it. Pure.
 */
#ifndef LATER_INSTANT_H
#define LATER_INSTANT_H

#include "later/error.h"

#define LATER_INSTANT_MIN 1e9           /* in 2001; where a time is asked for, less is a duration */
#define LATER_INSTANT_MAX 99999999999.0 /* year 5138; anything larger is milliseconds */

/* Reads UNIX seconds (`1767225600`, `1767225600.5`) or RFC 3339 (`2026-01-01T00:00:00Z`,
 * `2026-01-01 01:00:00.5+01:00`), the whole word or nothing. `what` names it in the message:
 * "--at". Returns 0, or -1 with *err (LATER_E_USAGE). */
int later_instant_read(const char *word, const char *what, double *unix_seconds,
                       struct later_error *err);

#endif
