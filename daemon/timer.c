/* timer.c: timers on a libevent loop. */
#include "timer.h"

#include <stdlib.h>

struct timer {
    struct event *event;
    void (*fn)(void *arg);
    void *arg;
    double every; /* seconds; 0: once */
};

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct timer *timer = arg;

    (void)fd;
    (void)what;
    if (timer->every > 0)
        timer_every(timer, timer->every);
    timer->fn(timer->arg);
}

struct timer *timer_new(struct event_base *base, void (*fn)(void *arg), void *arg)
{
    struct timer *timer = malloc(sizeof *timer);

    if (!timer)
        return NULL;
    *timer = (struct timer){ .event = evtimer_new(base, on_time, timer), .fn = fn, .arg = arg };
    if (timer->event)
        return timer;
    free(timer);
    return NULL;
}

void timer_free(struct timer *timer)
{
    if (timer)
        event_free(timer->event);
    free(timer);
}

static void timer_set(const struct timer *timer, double seconds)
{
    time_t whole = seconds > 0 ? (time_t)seconds : 0;
    struct timeval wait = { whole,
                            seconds > 0 ? (suseconds_t)((seconds - (double)whole) * 1e6) : 0 };

    event_add(timer->event, &wait);
}

void timer_in(struct timer *timer, double seconds)
{
    timer->every = 0;
    timer_set(timer, seconds);
}

bool timer_soon(struct timer *timer, double seconds)
{
    if (evtimer_pending(timer->event, NULL))
        return false;
    timer_in(timer, seconds);
    return true;
}

void timer_every(struct timer *timer, double seconds)
{
    timer->every = seconds;
    timer_set(timer, seconds);
}

void timer_stop(struct timer *timer)
{
    event_del(timer->event);
}
