/* tap.h: TAP from a C program without Check, for tests that watch clocks and processes and run
 * long. */
#ifndef FAULTS_TAP_H
#define FAULTS_TAP_H

#include <stdbool.h>

/* One result. Returns `passed`. */
bool tap_ok(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line for the reader. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The plan; last. Returns the exit status. */
int tap_end(void);

/* Is the long form wanted ($LATER_SOAK)? */
bool tap_long(void);

#endif
