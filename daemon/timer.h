/*
 * timer.h: timers on a libevent loop.
 */
#ifndef LATERD_TIMER_H
#define LATERD_TIMER_H

#include <event2/event.h>
#include <stdbool.h>

struct timer;

/* A timer that calls fn(arg) when it is due. It is not set yet. NULL: no memory. */
struct timer *timer_new(struct event_base *base, void (*fn)(void *arg), void *arg);
/* NULL is fine. */
void timer_free(struct timer *timer);

/* Sets it to fire once, in this many seconds. This replaces what was set before. Below 0 is 0. */
void timer_in(struct timer *timer, double seconds);
/* The same, but only if it is not set. Returns whether it was not. */
bool timer_soon(struct timer *timer, double seconds);
/* Sets it to fire again and again, this many seconds apart. */
void timer_every(struct timer *timer, double seconds);
void timer_stop(struct timer *timer);

#endif
