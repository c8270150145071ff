/*
 * moment.h: reads times as people write them, in the local zone.
 *
 *     1767225600, 2026-01-31T12:00:00Z    as later_instant_read()
 *     9:00, 9:00:30                       the next time the clock shows this
 *     today 18:30                         if that is still to come
 *     tomorrow 9:00
 *     monday 9:00, mon 9:00               the next Monday, or today
 *     2026-01-31 9:00, 2026-01-31         that day; without a time, its beginning
 *
 * All but the first are in the zone of $TZ, or of the host. A time that the clocks skip is refused.
 * If they show it twice, the first counts.
 */
#ifndef LATER_CLI_MOMENT_H
#define LATER_CLI_MOMENT_H

#include "later/error.h"

#include <time.h>

/* now: UNIX seconds. `what` names the word in the message: "--at". Returns 0, or -1 with *err
 * (LATER_E_USAGE). */
int moment_read(const char *word, const char *what, time_t now, double *unix_seconds,
                struct later_error *err);

#endif
