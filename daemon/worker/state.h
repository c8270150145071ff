/*
 * state.h: what the stages of a worker process share, for its own files.
 *
 *     admission   what a job needs before it may run: locks, permits, limits
 *     intake      what to reserve, when, and how to wait for it
 *     attempt     how an attempt ends: its settlement, its counts, its line in the log
 *     run         one job: is it fit, its handler
 *     host        the functions that plugins call
 *     worker      the process: loop, control pipe, drain, recycling
 *
 * Each uses only those above it. Nobody else includes this header; what the supervisor knows of a
 * worker is in orders.h.
 *
 * A worker has two connections: `wake` for BLPOP and a reserve right after it, and `main` for all
 * else, since whatever is written after a blocked BLPOP waits for it. On a Redis Cluster it has no
 * `wake`: it says in its slot page that it is idle, and the supervisor calls it (wake_listener.h).
 */
#ifndef LATERD_WORKER_STATE_H
#define LATERD_WORKER_STATE_H

#include "worker/orders.h"

#include "link/link.h"
#include "reservation/outbox.h"
#include "plugin/plugin.h"
#include "redis/sentinel.h"
#include "reservation/slots.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

struct later_client;
struct later_job;
struct admission;
struct attempts;
struct intake;
struct run;
struct said;

/* A queue that the worker serves, or a shard, as all stages know it. Made by intake; it stays. */
struct worker_queue {
    struct later_keys keys;
    later_queue_name whole; /* the queue's name; the keys may be a shard's */
    uint32_t index;         /* in the slot page */
    uint32_t counted;       /* the index of the whole queue, for the counts */
    const struct config_queue *config;
};

/* What the stage that runs jobs has in hand, for those that must leave it room. Only run writes
 * it. */
struct run_load {
    size_t in_flight;    /* event jobs that have begun and not ended */
    size_t in_admission; /* jobs in admission, or passed and not begun */
    bool starting;       /* some of these wait for a program that starts */
    bool single;         /* one of these must run by itself; no other is begun */
    bool alone;          /* what runs, or comes next, must run by itself; nothing is reserved */
};

/* What the stages share. Each has a struct of its own besides, which only its files know. */
struct worker {
    const struct worker_start *start;
    const struct config *config;
    struct slots *slots;
    struct event_base *base;
    struct event *pump;
    struct link *main;
    struct link *wake; /* NULL: the supervisor waits for wakes (wake_listener.h) */
    struct outbox *outbox;
    struct plugin_set *plugins;
    struct later_client *client; /* for calls of plugins; made at first use */

    struct intake *intake;       /* what is reserved, and has not begun */
    struct admission *admission; /* what jobs need before they run */
    struct run *run;             /* what runs, or is about to */
    const struct run_load *load; /* of `run` */
    struct attempts *attempts;   /* what is known of types from the jobs that ended */
    struct said *said;           /* what programs have said of their types */

    double redis_offset; /* Redis's clock minus ours; 0 = not known */
    bool draining, paused;
};

/* Something has changed: the pump settles, runs and reserves at the loop's next turn. */
void worker_pump_soon(struct worker *worker);
/* Writes to the status pipe. */
void worker_report(struct worker *worker, enum worker_report what);
/* Tells the keeper that this page is worth looking at. */
void worker_busy(struct worker *worker);
/* Tells the supervisor, if it wants to know, that the worker waits no longer or has got jobs. */
void worker_stir(struct worker *worker);
/* Returns 64 random bits, for jitter, not for secrets. */
uint64_t worker_random(void);

#endif
