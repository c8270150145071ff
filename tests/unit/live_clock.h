/* live_clock.h: the monotonic clock of the test program, which can be turned: of later_clock() and
 * of libevent's timers. */
#ifndef LIVE_CLOCK_H
#define LIVE_CLOCK_H

/* Turns it forward. */
void live_clock_advance(double seconds);

/* The seconds that it would show if nobody had turned it. */
double live_clock_true(void);

#endif
