/*
 * wake_listener.h: waits for the wakes of some queues (BLPOP), on connections of its own. One
 * connection is enough for all queues. On a Cluster each queue needs one, since the keys of a BLPOP
 * must be in one slot. It is made for a loop around poll(2).
 *
 * Whoever takes a wake must reserve from that queue, which leaves the next wake if one is due, and
 * then call wake_listener_follow(). Wakes that are not followed are put back.
 */
#ifndef LATER_CLI_WAKE_LISTENER_H
#define LATER_CLI_WAKE_LISTENER_H

#include "cli.h"

#include <poll.h>

#define WAKE_LISTENER_MAX 256 /* queues */

struct wake_listener;

/* One connection, for a range of the queues. */
struct wake_connection {
    struct wake_listener *all;
    struct later_client *client;
    size_t first, count;
    bool waiting;      /* a BLPOP has been sent */
    double not_before; /* later_clock(): the earliest time for the next BLPOP after a refusal; looks
                          go on meanwhile */
};

/* Set `cli` and zero the rest. It may not be moved. */
struct wake_listener {
    struct cli *cli;
    const struct later_keys *queues[WAKE_LISTENER_MAX];
    bool woken[WAKE_LISTENER_MAX]; /* we hold this queue's wake */
    size_t queue_count;
    struct wake_connection each[WAKE_LISTENER_MAX];
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

/* The wake of queue i, in the order of adding, has been followed. */
void wake_listener_follow(struct wake_listener *listener, size_t i);

/* Ends each BLPOP, reads its answer, which may be a wake, and puts back what is held. On a Cluster
 * that would take until the BLPOP's own end, so the connection is closed instead. If a wake is
 * lost, the next look makes up for it within a second. */
void wake_listener_stop(struct wake_listener *listener);

/* Closes the connections. */
void wake_listener_close(struct wake_listener *listener);

#endif
