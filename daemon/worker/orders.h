/*
 * orders.h: what supervisor and worker say to each other: how a worker is started, the orders on
 * its control pipe, its reports on its status pipe. Apart from the slot page (slots.h), they share
 * nothing else.
 */
#ifndef LATERD_ORDERS_H
#define LATERD_ORDERS_H

#include "config/config.h"
#include "redis/sentinel.h"
#include "reservation/slots.h"

#include <stdbool.h>

/* What the supervisor says on the control pipe, a byte each; its end means: stop, nobody is left.
 * Behind two of them stands more, in the same write, up to a newline: the new master's "host:port";
 * the name of the queue to look at. */
enum worker_order {
    WORKER_DRAIN = 'd',
    WORKER_PAUSE = 'p',
    WORKER_RESUME = 'r',
    WORKER_MOVED = 'm',
    WORKER_WAKE = 'l'
};
#define WORKER_CALLS_MORE 15 /* names of queues behind the first, a moment later */

/* What a worker says on its status pipe: its plugins are loaded; it holds something again; it is
 * idle, which was awaited (slots.h). */
enum worker_report {
    WORKER_READY = 'R',
    WORKER_BUSY = 'B',
    WORKER_IDLE = 'I',
    WORKER_REFUSED = 'X' /* it ends, since it cannot start: the reason stands behind */
};

/* What a worker process is started with. All borrowed, for its life. */
struct worker_start {
    const struct config *config;
    const struct config_pool *pool;
    struct slots *slots;
    int number;       /* for the log */
    int control_fd;   /* to read orders from */
    int status_fd;    /* to write reports to */
    const char *host; /* for error records */
    bool listens;     /* the supervisor waits for wakes (wake_listener.h) */
};

/* Runs a worker until it is told to stop. Returns the process's exit status: 0, or 78 where a
 * plugin refuses. */
int worker_main(const struct worker_start *start);

#endif
