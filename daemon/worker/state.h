/*
 * state.h: the state of a worker process, for its own files.
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

#include "base/names.h"
#include "fault.h"
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
struct run;

/* The answer of a reserve, kept as long as any of its jobs needs its document. */
struct batch {
    struct later_reply *reply;
    struct later_reply *documents; /* NULL: they are in `reply` */
    size_t users;
    uint32_t given; /* jobs in the answer */
};

/* A reserved job that has not begun. */
struct held {
    struct slot *slot;
    struct batch *batch;
    const char *document;
    size_t document_len;
    uint32_t attempts;
    bool begun; /* before */
    double unknown_since;
    double score; /* the job's score in ready; NAN: not known */
};

struct worker_queue {
    struct later_keys keys;
    later_queue_name whole; /* the queue's name; the keys may be a shard's */
    uint32_t index;         /* in the slot page */
    uint32_t rank;          /* in the order in which queues are looked at */
    uint32_t group;         /* of its entry in the configuration */
    uint32_t counted;       /* the index of the whole queue, for the counts */
    const struct config_queue *config;
    bool live;                         /* there was work at the last look; set by intake_live() */
    double checked;                    /* when that was */
    double average;                    /* seconds a job takes, a moving average; 0: none has run */
    double bytes;                      /* of a document, on average in the last answer */
    bool asked;                        /* a reserve is under way, */
    size_t promised;                   /* for at most so many jobs */
    double sent;                       /* when it was sent, on main */
    bool silent;                       /* it has had no answer for a while */
    bool resting;                      /* refused, or cut off: until the timer `again` comes */
    size_t finding;                    /* lost reserves being looked for */
    const struct plugin_type *limited; /* of its last job, if its plugin has limited ... */
    char limited_name[LATER_TYPE_MAX + 1]; /* ... room for it */
    struct fault refused;
};

/* The queues of one entry of the configuration: a queue and its shards, or the queues of a pattern.
 * They are next to each other in the order, and take turns. */
struct worker_group {
    uint32_t first, count; /* ranks */
    uint32_t turn;         /* the queue that is looked at first, */
    double turned;         /* since when */
    uint32_t weight;
    double clock; /* jobs taken by weight (intake_choose) */
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

struct worker {
    const struct worker_start *start;
    const struct config *config;
    struct slots *slots;
    struct event_base *base;
    struct link *main;
    struct link *wake; /* NULL: the supervisor waits for wakes (wake_listener.h) */
    struct outbox *outbox;
    struct plugin_set *plugins;
    struct later_client *client; /* for calls of plugins; made at first use */
    struct event *pump, *control;
    char orders[1024]; /* the beginning of one that has not come whole */
    size_t orders_len;
    struct timer *again, *count;
    struct timer *late; /* NULL: all queues are on one server */

    struct worker_queue *queues; /* by index; they stay where they are */
    uint32_t queue_count, queue_room;
    struct later_names names;
    uint32_t *order; /* their indices, by rank */
    struct worker_group *groups;
    uint32_t group_count;
    uint64_t live[SLOTS_QUEUES / 64]; /* a bit for each rank */
    bool weighted;
    double clock; /* the clock of the group that was chosen last */

    bool many;                  /* too many queues to ask each: intake_many.c */
    struct seek *seek;          /* finds those with a wake */
    double sought;              /* when it was asked last */
    bool found_some;            /* and it was worth it */
    double idle_since;          /* 0: it is not */
    uint32_t calls;             /* since then */
    bool pressed;               /* work came as soon as it was idle, so there may be more */
    double average;             /* seconds a job takes in any queue, for those without an average */
    double slowest, slowest_at; /* of the queues that have work: intake_slowest() */
    uint32_t limited;           /* queues whose `limited` is set */

    struct held *held; /* a circular buffer */
    size_t held_first, held_count, held_room;
    uint32_t next_slot;          /* where to look for a free one */
    struct admission *admission; /* what jobs need before they run */
    struct run *run;
    const struct run_load *load; /* of `run` */
    struct attempts *attempts;   /* what is known of types from the jobs that ended */

    size_t asked;        /* reserves without an answer, on main */
    size_t promised;     /* jobs that all reserves without an answer may bring, */
    size_t unheard;      /* of them, those of silent queues */
    size_t awaits_ids;   /* of them, those whose documents are then asked for */
    bool waiting;        /* a BLPOP is out */
    bool deaf;           /* a BLPOP was refused: none until the timer `again` */
    bool unblocking;     /* the BLPOP was told to end */
    size_t finding;      /* lost reserves being looked for */
    double redis_offset; /* Redis's clock minus ours; 0 = not known */

    bool draining, paused;
    double started;
    double weighed; /* when recycle.memory was looked at last */
};

/* Something has changed: the pump settles, runs and reserves at the loop's next turn. */
void worker_pump_soon(struct worker *worker);
/* Writes to the status pipe. */
void worker_report(struct worker *worker, enum worker_report what);
/* Tells the keeper that this page is worth looking at. */
void worker_busy(struct worker *worker);
/* Returns 64 random bits, for jitter, not for secrets. */
uint64_t worker_random(void);

#endif
