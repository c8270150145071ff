/*
 * duration.h: how people write a duration: `90 90s 5m 2h 1d 1.5`. Pure.
 */
#ifndef LATER_DURATION_H
#define LATER_DURATION_H

#include "later/error.h"

#include <stdbool.h>

/* Reads the whole word: seconds, 0 … LATER_DELAY_MAX (backoff.h). `what` names it in the message:
 * "--in". Returns 0, or -1 with *err (LATER_E_USAGE). */
int later_duration(const char *word, const char *what, double *seconds, struct later_error *err);

/* Reads digits and a fraction at *p, in any locale, and moves *p past them; false if there is no
 * digit. */
bool later_duration_real(const char **p, double *number);

#endif
