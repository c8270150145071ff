/*
 * fault.h: a fault that lasts: logged once, then how often, then that it is over.
 *
 * For trouble that comes again and again, such as a Redis that refuses or a plugin that does not
 * start, keep a zeroed struct fault and note it each time. The log has a line the first time; a
 * line that says how often since, after a minute, two, four … up to an hour; and a line when it is
 * over.
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
