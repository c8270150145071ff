/*
 * text.h: what people write and read: durations, times, numbers, sizes. Pure.
 *
 * The readers take the whole word and nothing else. `what` names it in the message: "--in".
 */
#ifndef LATER_CLI_TEXT_H
#define LATER_CLI_TEXT_H

#include "later/error.h"

#include <stddef.h>
#include <stdint.h>

/* `90 90s 5m 2h 1d 1.5`: seconds, 0 … LATER_DELAY_MAX. Returns 0, or -1 with *err
 * (LATER_E_USAGE). */
int text_duration(const char *word, const char *what, double *seconds, struct later_error *err);

/* UNIX seconds (`1767225600`, `1767225600.5`) or RFC 3339 (`2026-01-01T00:00:00Z`,
 * `2026-01-01 01:00:00.5+01:00`). Returns 0, or -1 with *err (LATER_E_USAGE). */
int text_time(const char *word, const char *what, double *unix_seconds, struct later_error *err);

/* A whole number within min and max. Returns 0, or -1 with *err (LATER_E_USAGE). */
int text_number(const char *word, const char *what, int64_t min, int64_t max, int64_t *number,
                struct later_error *err);

/* `1,5,1.5m` or JSON becomes JSON for a document's `backoff`: a number, a list, an object.
 * Returns a malloc'ed string, or NULL with *err. JSON is handed on unread. */
char *text_backoff(const char *word, struct later_error *err);

/* Short, for people: "0.4 s", "12 s", "5 min", "3.2 h", "12 d"; "12.3 MiB"; a date and time in UTC
 * as RFC 3339. Into out; returns out. */
char *text_put_age(char *out, size_t room, double seconds);
char *text_put_bytes(char *out, size_t room, uint64_t bytes);
char *text_put_time(char *out, size_t room, double unix_seconds);

/* A number with at most six decimals and no zeros at its end, whatever the locale; beyond 1e15 with
 * an exponent; `inf`, `nan`. */
char *text_put_real(char *out, size_t room, double number);

#endif
