/*
 * orders.h: what supervisor and worker tell each other: how a worker is started, the orders on its
 * control pipe, the reports on its status pipe. Besides this they share only the slot page
 * (slots.h).
 */
#ifndef LATERD_ORDERS_H
#define LATERD_ORDERS_H

#include "config/config.h"
#include "overlay.h"
#include "quota.h"
#include "redis/sentinel.h"
#include "reservation/slots.h"

#include <stdbool.h>

/* Orders on the control pipe, one byte each. The end of the pipe means: stop, the supervisor is
 * gone. Two orders are followed, in the same write, by a text and a newline: the new master's
 * "host:port"; the name of the queue to look at. */
enum worker_order {
    WORKER_DRAIN = 'd',
    WORKER_PAUSE = 'p',
    WORKER_RESUME = 'r',
    WORKER_MOVED = 'm',
    WORKER_DOUBT = 'c', /* the supervisor's connection was cut */
    WORKER_WAKE = 'l',
    WORKER_SLEEP = 's', /* you may go without connections (supervisor/sleepers.h) */
    WORKER_ROUSE = 'u', /* make them again */
    WORKER_BEAT = 'h'   /* show in your page that your loop turns (slots_beat()) */
};
#define WORKER_CALLS_MORE 15 /* names of queues after the first, a moment later */

/* Reports on the status pipe: the plugins are loaded; the worker holds something again; it is idle,
 * or has stirred, which the supervisor wanted to know (slots.h); the last job of the quota has
 * begun. */
enum worker_report {
    WORKER_READY = 'R',
    WORKER_BUSY = 'B',
    WORKER_IDLE = 'I',
    WORKER_STIRS = 'T',
    WORKER_SPENT = 'S',
    WORKER_REFUSED = 'X' /* it cannot start and ends; the reason follows */
};

/* What a worker process is started with. All is borrowed for its life. */
struct worker_start {
    const struct config *config;
    const struct config_pool *pool;
    struct slots *slots;
    int control_fd;          /* to read orders from */
    int status_fd;           /* to write reports to */
    const char *host;        /* for error records */
    bool listens;            /* the supervisor waits for wakes (wake_listener.h) */
    struct quota *quota;     /* of all workers together; NULL: none */
    struct overlay *overlay; /* what is laid over the configuration; NULL: nothing */
};

/* Runs a worker until it is told to stop. Returns the exit status: 0, or 78 if a plugin refuses. */
int worker_main(const struct worker_start *start);

#endif
