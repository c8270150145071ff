/*
 * fault.h: a fault that lasts: told once, then how often, then that it is over.
 *
 * Whoever meets the same trouble again and again, a Redis that refuses, a plugin that does not
 * start, keeps a struct fault for it, zeroed, and notes it each time. The log has a line the first
 * time; a minute later, then after two, four … up to an hour, one that says how often since; one
 * when it is over.
 */
#ifndef LATERD_FAULT_H
#define LATERD_FAULT_H

#include "log.h"

struct fault {
    double since, told, again; /* later_clock(); since 0: there is none */
    unsigned long count;
    char text[400]; /* what was said last */
};

/* It is there (still). The text is one line, without the time. */
void fault_note(struct fault *fault, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* It is not there (any more). Costs nothing where none was. */
void fault_over(struct fault *fault);

/* Its text; NULL where there is none. */
const char *fault_text(const struct fault *fault);

#endif
