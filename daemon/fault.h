/*
 * fault.h: a fault that lasts: logged once, then how often, then that it is over.
 *
 * Use it for trouble that comes again and again, such as a Redis that refuses or a plugin that does
 * not start: keep a zeroed struct fault, and note the fault each time. The log gets a line the
 * first time, lines that say how often it has come since, after one minute, two, four … up to an
 * hour, and a line when it is over. Its text is allocated while the fault is there, since a
 * supervisor has four of them for each of thousands of queues; fault_free() ends a struct fault.
 */
#ifndef LATERD_FAULT_H
#define LATERD_FAULT_H

#include "log.h"
#include "redis/redis.h"

struct fault {
    double since, told, again; /* later_clock(); since 0: there is none */
    unsigned long count;
    bool quiet; /* so far it was noted as LOG_DEBUG only: its end is, too */
    char *text; /* owned: what was said last; NULL: there is no fault, or no memory */
};

/* The fault is there, perhaps still. The text is one line, without the time. */
void fault_note(struct fault *fault, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes the fault if this answer is a refusal; it is over if Redis has answered otherwise. */
void fault_judge(struct fault *fault, const struct later_answer *answer, enum log_level level,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The fault is not there, or no longer. Costs nothing if there was none. */
void fault_over(struct fault *fault);

/* Frees what it has; nothing is logged. */
void fault_free(struct fault *fault);

/* Its text; NULL if there is no fault. */
const char *fault_text(const struct fault *fault);

#endif
