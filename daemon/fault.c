/* fault.c: logs a fault that lasts. */
#include "fault.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_AGAIN 60.0 /* seconds, doubling */
#define LAST_AGAIN  3600.0

__attribute__((format(printf, 3, 0))) static void fault_note_text(struct fault *fault,
                                                                  enum log_level level,
                                                                  const char *format, va_list args)
{
    double now = later_clock();
    char text[400];

    vsnprintf(text, sizeof text, format, args);
    fault_free(fault);
    fault->text = strdup(text);
    fault->quiet = level == LOG_DEBUG && (fault->since <= 0 || fault->quiet);
    if (fault->since <= 0) {
        fault->since = fault->told = now;
        fault->again = FIRST_AGAIN;
        fault->count = 1;
        log_line(level, "%s", text);
        return;
    }
    fault->count++;
    if (now - fault->told < fault->again)
        return;
    fault->told = now;
    fault->again = fault->again * 2 < LAST_AGAIN ? fault->again * 2 : LAST_AGAIN;
    log_line(level, "%s (%lu times in %.0f s)", text, fault->count, now - fault->since);
}

void fault_note(struct fault *fault, enum log_level level, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fault_note_text(fault, level, format, args);
    va_end(args);
}

void fault_judge(struct fault *fault, const struct later_answer *answer, enum log_level level,
                 const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (answer->outcome == LATER_REFUSED)
        fault_note_text(fault, level, format, args);
    va_end(args);
    if (answer->outcome == LATER_ANSWERED)
        fault_over(fault);
}

void fault_over(struct fault *fault)
{
    if (fault->since <= 0)
        return;
    log_line(fault->quiet ? LOG_DEBUG : LOG_INFO, "over after %.1f s, %lu times: %s",
             later_clock() - fault->since, fault->count, fault_text(fault));
    fault->since = 0;
    fault_free(fault);
}

void fault_free(struct fault *fault)
{
    free(fault->text);
    fault->text = NULL;
}

const char *fault_text(const struct fault *fault)
{
    if (fault->since <= 0)
        return NULL;
    return fault->text ? fault->text : "no memory";
}
