/* clock.h: the monotonic clock. No host's wall clock decides anything in laterd: times that hosts
 * compare are Redis's TIME, which scripts read. */
#ifndef LATER_CLOCK_H
#define LATER_CLOCK_H

/* Seconds since some moment in the past. It never goes back, and is the same in all processes. */
double later_clock(void);

/* Sleeps so long, or until a signal is handled. */
void later_sleep(double seconds);

#endif
