/* clock.h: the monotonic clock. No wall clock of a host decides anything in laterd: what has to be
 * compared between hosts is Redis's TIME, and that is read inside the scripts. */
#ifndef LATER_CLOCK_H
#define LATER_CLOCK_H

/* Seconds since some moment in the past; never goes back, goes on in all processes alike. */
double later_clock(void);

#endif
