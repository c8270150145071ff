/*
 * say.h: numbers and times in lines for people (pure).
 */
#ifndef LATER_SAY_H
#define LATER_SAY_H

#include <stddef.h>
#include <stdint.h>

#define LATER_SAY_SIZE 48
#define LATER_SAY_BY   256

/* Write a short text into out, which has LATER_SAY_SIZE bytes, and return it.
 * later_say_age(): "0.4 s", "12 s", "5 min", "3.2 h", "12 d".
 * later_say_since(): "09:12 UTC", or "2026-01-01 09:12 UTC" if that is not within a day of `now`.
 * later_say_count(): "1,204". later_say_nth(): "third", "12th". */
char *later_say_age(char *out, double seconds);
char *later_say_since(char *out, double at, double now);
char *later_say_count(char *out, int64_t count);
char *later_say_nth(char *out, int64_t nth);

/* Writes who has done something that lasts, as far as that is known, into out, which has
 * LATER_SAY_BY bytes: " by ann since 09:12 UTC, for 5.0 min more". who: "" = not known; since,
 * until: UNIX seconds, 0 = not known, or it does not end by itself. Returns out. */
char *later_say_by(char *out, const char *who, double since, double until, double now);

#endif
