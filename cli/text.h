/*
 * text.h: times, numbers and sizes as people read and write them; durations are read by
 * base/duration.h. And texts in JSON. Pure.
 *
 * The readers accept the whole word or nothing. `what` names it in the message: "--in".
 */
#ifndef LATER_CLI_TEXT_H
#define LATER_CLI_TEXT_H

#include "later/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a whole number from min to max. Returns 0, or -1 with *err (LATER_E_USAGE). */
int text_number(const char *word, const char *what, int64_t min, int64_t max, int64_t *number,
                struct later_error *err);

/* Turns `1,5,1.5m` or JSON into JSON for a document's `backoff`: a number, a list or an object.
 * Returns a malloc'ed string, or NULL with *err. JSON is passed on unread. */
char *text_backoff(const char *word, struct later_error *err);

/* Returns how many characters a text has. */
size_t text_width(const char *text);

/* Write a short text for people into out, and return it: an age ("0.4 s", "12 s", "5 min", "3.2 h",
 * "12 d"); a size ("12.3 MiB"); a date and time in UTC as RFC 3339. */
char *text_put_age(char *out, size_t room, double seconds);
char *text_put_bytes(char *out, size_t room, uint64_t bytes);
char *text_put_time(char *out, size_t room, double unix_seconds);

/* Writes a number with at most six decimals and no trailing zeros, in any locale; beyond 1e15 with
 * an exponent; also `inf` and `nan`. */
char *text_put_real(char *out, size_t room, double number);

/* Returns a member that is a text, or "" if there is none. Borrowed. object may be NULL. */
const char *text_member(const json_t *object, const char *name);

/* Returns a member that is a number, or 0 if there is none. object may be NULL. */
double text_number_member(const json_t *object, const char *name);
/* The same, a whole number; 0 also if it is negative or too large. */
uint64_t text_count_member(const json_t *object, const char *name);

/* Return the text, NULL if it is ""; the time, NAN if it is 0: nothing is known. */
const char *text_known(const char *text);
double text_known_time(double at);

#endif
