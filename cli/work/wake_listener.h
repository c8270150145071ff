/*
 * wake_listener.h: waits for the wakes of some queues of a Cluster (BLPOP). Each queue has a
 * connection of its own, since the keys of a BLPOP must be in one slot. It is made for a loop
 * around poll(2).
 *
 * Whoever takes a wake must reserve from that queue, which leaves the next wake if one is due, and
 * then call wake_listener_follow(). Wakes that are not followed are put back.
 */
#ifndef LATER_CLI_WAKE_LISTENER_H
#define LATER_CLI_WAKE_LISTENER_H

#include "cli.h"

#include <poll.h>

#define WAKE_LISTENER_MAX 256 /* queues */

/* One queue, and its connection. */
struct wake_connection {
    const struct later_keys *keys;
    struct later_client *client;
    bool waiting;      /* a BLPOP has been sent */
    bool woken;        /* we hold the queue's wake */
    double not_before; /* later_clock(): the earliest time for the next BLPOP after a refusal; looks
                          go on meanwhile */
};

/* Set `cli` and zero the rest. It may not be moved. */
struct wake_listener {
    struct cli *cli;
    struct wake_connection each[WAKE_LISTENER_MAX]; /* in the order of adding */
    size_t count;
};

/* Adds a queue, and borrows its keys; at most WAKE_LISTENER_MAX. Returns 0, or -1 with *err. */
int wake_listener_add(struct wake_listener *listener, const struct later_keys *keys,
                      struct later_error *err);

/* Sends a BLPOP on each connection that has none. */
void wake_listener_wait(struct wake_listener *listener);

/* wake_listener_poll() fills polled[] and returns how many entries it has. Call
 * wake_listener_handle() after poll(). */
size_t wake_listener_poll(struct wake_listener *listener, struct pollfd polled[WAKE_LISTENER_MAX]);
void wake_listener_handle(struct wake_listener *listener,
                          const struct pollfd polled[WAKE_LISTENER_MAX]);

/* The wake of queue i has been followed. */
void wake_listener_follow(struct wake_listener *listener, size_t i);

/* Puts back what is held, and closes the connections. To end a BLPOP and read its answer, which may
 * be a wake, would take until its own end; if a wake is lost, the next look makes up for it within
 * a second. */
void wake_listener_close(struct wake_listener *listener);

#endif
