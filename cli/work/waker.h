/*
 * waker.h: waiting for the wakes of some queues (BLPOP) beside everything else, on connections that
 * do nothing else: one for all queues, but on a Cluster, where a BLPOP takes keys of one slot, one
 * for each. It is for a loop around poll(2).
 *
 * A wake that is eaten is the duty of who ate it: to reserve from that queue, which leaves the wake
 * that is due, and to say so by wakers_follow(); what is not followed is put back.
 */
#ifndef LATER_CLI_WAKER_H
#define LATER_CLI_WAKER_H

#include "cli.h"

#include <poll.h>

#define WAKERS_MAX 256 /* queues */

struct wakers;

/* One connection, for queues that lie behind one another. */
struct waker {
    struct wakers *all;
    struct later_client *client;
    size_t first, count;
    bool waiting;      /* a BLPOP is out */
    double not_before; /* later_clock(): after one that was refused; looks go on meanwhile */
};

/* Zero it first, but for `cli`, and let it lie where it is. */
struct wakers {
    struct cli *cli;
    const struct later_keys *queues[WAKERS_MAX];
    bool woken[WAKERS_MAX]; /* we hold a wake of it */
    size_t queue_count;
    struct waker each[WAKERS_MAX];
    size_t count;
};

/* One more queue, whose keys are borrowed; at most WAKERS_MAX. Returns 0, or -1 with *err. */
int wakers_add(struct wakers *wakers, const struct later_keys *keys, struct later_error *err);

/* Sends a BLPOP wherever none is out. */
void wakers_wait(struct wakers *wakers);

/* What to poll for, into polled[]; returns how many. Then what came, poll having been called. */
size_t wakers_poll(struct wakers *wakers, struct pollfd polled[WAKERS_MAX]);
void wakers_handle(struct wakers *wakers, const struct pollfd polled[WAKERS_MAX]);

/* later_clock() at which an answer is missed; INFINITY = never. */
double wakers_deadline(const struct wakers *wakers);

/* Do we hold a wake? That of queue i, in the order of their adding, is followed. Those that are
 * held are put back, best effort. */
bool wakers_hold(const struct wakers *wakers);
void wakers_follow(struct wakers *wakers, size_t i);
void wakers_put_back(struct wakers *wakers);

/* Ends each BLPOP that is out, whose answer is read, since it may be a wake, and puts back what is
 * held. On a Cluster, where that would take until its end, it is cut off: a wake that it had is
 * made up for within a second. */
void wakers_stop(struct wakers *wakers);

/* Closes the connections. */
void wakers_close(struct wakers *wakers);

#endif
