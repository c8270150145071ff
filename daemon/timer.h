/*
 * timer.h: something to do later, on a libevent loop.
 */
#ifndef LATERD_TIMER_H
#define LATERD_TIMER_H

#include <event2/event.h>
#include <stdbool.h>

struct timer;

/* Calls fn(arg) when it is due, which it is not until it is set. NULL: no memory. */
struct timer *timer_new(struct event_base *base, void (*fn)(void *arg), void *arg);
/* NULL is fine. */
void timer_free(struct timer *timer);

/* In so many seconds, once; whatever was set before is forgotten. Below 0 is 0. */
void timer_in(struct timer *timer, double seconds);
/* The same where it is not set yet; returns whether it was not. */
bool timer_soon(struct timer *timer, double seconds);
/* Again and again. */
void timer_every(struct timer *timer, double seconds);
void timer_stop(struct timer *timer);

#endif
