/*
 * wake_listener.h: waiting for the wakes of some queues (BLPOP) beside everything else, on
 * connections that do nothing else: one for all queues, but on a Cluster, where a BLPOP takes keys
 * of one slot, one for each. It is for a loop around poll(2).
 *
 * A wake that is eaten is the duty of who ate it: to reserve from that queue, which leaves the wake
 * that is due, and to say so by wake_listener_follow(); what is not followed is put back.
 */
#ifndef LATER_CLI_WAKE_LISTENER_H
#define LATER_CLI_WAKE_LISTENER_H

#include "cli.h"

#include <poll.h>

#define WAKE_LISTENER_MAX 256 /* queues */

struct wake_listener;

/* One connection, for queues that lie behind one another. */
struct wake_connection {
    struct wake_listener *all;
    struct later_client *client;
    size_t first, count;
    bool waiting;      /* a BLPOP is out */
    double not_before; /* later_clock(): after one that was refused; looks go on meanwhile */
};

/* Zero it first, but for `cli`, and let it lie where it is. */
struct wake_listener {
    struct cli *cli;
    const struct later_keys *queues[WAKE_LISTENER_MAX];
    bool woken[WAKE_LISTENER_MAX]; /* we hold a wake of it */
    size_t queue_count;
    struct wake_connection each[WAKE_LISTENER_MAX];
    size_t count;
};

/* One more queue, whose keys are borrowed; at most WAKE_LISTENER_MAX. Returns 0, or -1 with *err.
 */
int wake_listener_add(struct wake_listener *listener, const struct later_keys *keys,
                      struct later_error *err);

/* Sends a BLPOP wherever none is out. */
void wake_listener_wait(struct wake_listener *listener);

/* What to poll for, into polled[]; returns how many. Then what came, poll having been called. */
size_t wake_listener_poll(struct wake_listener *listener, struct pollfd polled[WAKE_LISTENER_MAX]);
void wake_listener_handle(struct wake_listener *listener,
                          const struct pollfd polled[WAKE_LISTENER_MAX]);

/* later_clock() at which an answer is missed; INFINITY = never. */
double wake_listener_deadline(const struct wake_listener *listener);

/* Do we hold a wake? That of queue i, in the order of their adding, is followed. Those that are
 * held are put back, best effort. */
bool wake_listener_have(const struct wake_listener *listener);
void wake_listener_follow(struct wake_listener *listener, size_t i);
void wake_listener_put_back(struct wake_listener *listener);

/* Ends each BLPOP that is out, whose answer is read, since it may be a wake, and puts back what is
 * held. On a Cluster, where that would take until its end, it is cut off: a wake that it had is
 * made up for within a second. */
void wake_listener_stop(struct wake_listener *listener);

/* Closes the connections. */
void wake_listener_close(struct wake_listener *listener);

#endif
