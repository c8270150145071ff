/*
 * worker.h: a worker process: reserve → run → settle.
 *
 *     worker.c    the process: loop, control pipe, drain, recycling
 *     intake.c    what to reserve, and when
 *     intake_many.c  which of very many queues to look at
 *     wake.c      waiting for a wake
 *     run.c       one job: its handler, its result, its settlement
 *     admission.c what a job needs before it may run: locks, permits, limits (admission.h)
 *     host.c      the functions that plugins call
 *
 * A worker has two connections: `wake` for BLPOP (and a reserve right behind it), `main` for all
 * else, since what is written behind a blocked BLPOP waits for it. On a Redis Cluster it has no
 * `wake`: it says in its slot page that it is idle, and the supervisor calls it (wake_listener.h).
 *
 * This header is what these files share, and nobody else; what the supervisor knows of a worker is
 * orders.h.
 */
#ifndef LATERD_WORKER_H
#define LATERD_WORKER_H

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

/* The answer of a reserve, kept while any of its jobs needs its documents. */
struct batch {
    struct later_reply *reply;
    struct later_reply *documents; /* NULL: they are in `reply` */
    size_t users;
};

/* A reserved job that has not begun. */
struct held {
    struct slot *slot;
    struct batch *batch;
    const char *document;
    size_t document_len;
    uint32_t attempts;
    double unknown_since;
    double score; /* that it had in ready; NAN: not known */
};

struct worker_queue {
    struct later_keys keys;
    later_queue_name whole; /* the queue's name; the keys may be a shard's */
    uint32_t index;         /* in the slot page */
    uint32_t rank;          /* in the order in which queues are looked at */
    uint32_t group;         /* of the entry of the configuration that it is of */
    uint32_t counted;       /* the index of its whole, under which its attempts are counted */
    const struct config_queue *config;
    bool live;      /* there was work when we looked last: set by intake_live() */
    double checked; /* when that was */
    double average; /* seconds a job takes: moving average; 0: none of its jobs has run */
    double bytes;   /* of a document: the average of the last answer */
    bool asked;     /* a reserve is under way */
    double sent;    /* when, on main */
    bool silent;    /* it has had no answer for a while */
    bool resting;   /* refused, or cut off: until the timer `again` comes */
    size_t finding; /* lost reserves being looked for */
    const struct plugin_type *limited; /* the type of its last job, if its plugin has so much ... */
    char limited_name[LATER_TYPE_MAX + 1]; /* ... room for it and no more */
    struct fault refused;
};

/* What one entry of the configuration stands for: a queue and its shards. They are behind each
 * other in the order, and take turns. */
struct worker_group {
    uint32_t first, count; /* ranks */
    uint32_t turn;         /* which of them is looked at first, */
    double turned;         /* and since when */
    uint32_t weight;
    double clock; /* jobs taken by weight (intake_choose) */
};

/* How long a type takes; types that may be slow get earlier acks sent first. */
struct worker_type {
    const struct plugin_type *type;
    double average;
    struct counts *counts[SLOTS_QUEUES]; /* where it was counted last, by whole queue */
};

#define WORKER_FINISHED 64 /* finished event jobs that a second finish is still told apart from */

struct worker {
    const struct worker_start *start;
    const struct config *config;
    struct slots *slots;
    struct event_base *base;
    struct link *main;
    struct link *wake; /* NULL: the supervisor waits for wakes (wake_listener.h) */
    struct outbox *outbox;
    struct plugin_set *plugins;
    struct later_client *client; /* for the calls of plugins; made when first used */
    struct event *pump, *control;
    struct timer *again, *watch, *count;
    struct timer *late; /* NULL: all queues are on one server */

    struct worker_queue *queues; /* by index; they stay where they are */
    uint32_t queue_count, queue_room;
    struct later_names names;
    uint32_t *order; /* their indices, by rank */
    struct worker_group *groups;
    uint32_t group_count;
    uint64_t live[SLOTS_QUEUES / 64]; /* a bit for each rank */
    bool weighted;
    double clock; /* of the group that was chosen last */

    bool many;                  /* too many queues to look at each by itself: intake_many.c */
    struct seek *seek;          /* which of them have a wake? */
    double sought;              /* when that was asked last */
    double idle_since;          /* 0: it is not */
    bool pressed;               /* there was work as soon as it was idle: there may be more */
    double average;             /* seconds a job takes, of whichever queue: for those without one */
    double slowest, slowest_at; /* of the queues that have work: intake_slowest() */
    uint32_t limited;           /* queues whose `limited` is set */

    struct held *held; /* a circular buffer */
    size_t held_first, held_count, held_room;
    uint32_t next_slot; /* where to look for a free one */
    struct worker_type *types;
    size_t type_count;

    struct later_job *jobs;                      /* event jobs in flight */
    struct later_job *finished[WORKER_FINISHED]; /* and those that finished last */
    size_t next_finished;
    size_t in_flight;
    bool alone;   /* what runs, or comes next, must run by itself: nothing is reserved */
    bool running; /* a serial handler is on the stack */

    struct admission *admission;             /* what jobs need before they run */
    size_t in_admission;                     /* jobs that are there, or have passed it */
    struct later_job *passed, **passed_last; /* those that have, the first first */
    bool single; /* one of in_admission must run by itself: no other is begun */

    size_t asked;        /* reserves without an answer, on main */
    bool waiting;        /* a BLPOP is out */
    bool deaf;           /* it was refused: none until the timer `again` comes */
    bool unblocking;     /* and was told to come back */
    size_t finding;      /* lost reserves being looked for */
    double redis_offset; /* Redis's clock minus ours; 0 = not known */
    double flushed;      /* when settlements were last sent */

    bool draining, paused, ending;
    uint64_t performed;
    double started;
    double weighed; /* when recycle.memory was looked at last */
};

/* intake.c: asks for work where that is due; called whenever something has changed. */
void intake(struct worker *worker);
/* The next batch, while this one runs. */
void intake_ahead(struct worker *worker);
/* The links came up, or a while has passed: looks for reserves whose answer was lost. */
void intake_recover(struct worker *worker);
/* A BLPOP was refused: the next one after a while. */
void intake_deaf(struct worker *worker);
/* Notes whether a queue's jobs are of a type with bounded room, by its last one. */
void intake_limit(struct worker_queue *queue, const struct later_job *job);
/* Is there no room for the jobs of some queue? Then the worker waits for no wake. */
bool intake_full(const struct worker *worker);
/* Reserves that have no answer yet hold up the other queues no longer. */
void intake_late(struct worker *worker);
/* A few jobs of the only queue, by a reserve right behind a BLPOP on `wake`, which takes nothing
 * after `until` (seconds by Redis's clock). */
void intake_behind(struct worker *worker, struct worker_queue *queue, double until, double timeout);

/* Asks a queue for its share of a batch: a `share`-th. Returns whether it was asked. */
bool intake_look_at(struct worker *worker, struct worker_queue *queue, size_t share);

/* intake_turn.c: notes whether there is work in a queue. */
void intake_live(struct worker *worker, struct worker_queue *queue, bool live);
/* May it be asked now? It holds up nobody if not. And has it work besides? Has any? */
bool intake_is_open(const struct worker_queue *queue);
bool intake_is_ready(const struct worker_queue *queue);
bool intake_any_ready(const struct worker *worker);
/* The average time of a job in the slowest of the queues that are ready, as of a moment ago. */
double intake_slowest(struct worker *worker);
/* How long its jobs take, as far as is known. */
double intake_average(const struct worker *worker, const struct worker_queue *queue);
/* The n-th queue to look at: in their order, those of a group in turn. */
struct worker_queue *intake_in_turn(struct worker *worker, uint32_t n);
/* Of a group the first in turn that is ready, and those behind it, at most so many. Returns how
 * many. And those of the groups in their order. */
size_t intake_ready_of(struct worker *worker, const struct worker_group *group,
                       struct worker_queue **list, size_t most);
size_t intake_ready(struct worker *worker, struct worker_queue **list, size_t most);
/* The group whose turn it is by weight, NULL if none has a ready queue: of the jobs each gets its
 * share, one with shards as much as if it had none. Then: how many jobs it gave; and how many may
 * be asked for at once while others have jobs, too. */
struct worker_group *intake_choose(struct worker *worker);
void intake_count(struct worker *worker, const struct worker_queue *queue, size_t jobs);
size_t intake_share(const struct worker *worker, const struct worker_queue *queue);
/* intake_many.c: asks some of the queues that have work, and which of the others have; then: it is
 * to be known before the worker may be idle. */
void intake_many(struct worker *worker);
bool intake_many_first(struct worker *worker);

/* worker.c: a queue of the pool, behind those that it has; NULL: no room. */
struct worker_queue *worker_serve(struct worker *worker, const struct config_queue *config);

/* Of its group, this one comes first for a while, since what is settled goes to Redis in one write
 * with the next reserve of the same shard; then it is the turn of the next. */
void intake_turn(struct worker *worker, const struct worker_queue *queue, double now);

/* wake.c: there is nothing to do, so wait; or there is something, so that nobody shall call. */
void wake_wait(struct worker *worker, bool idle);
/* Makes a waiting BLPOP come back. */
void wake_unblock(struct worker *worker);
/* The supervisor has called: there is work in this queue. */
void wake_called(struct worker *worker, const char *queue);

/* Forgets one job that was held. */
void batch_release(struct batch *batch);

/* run.c: takes the next job a step further: one that has all it needs begins, or else the first
 * held one asks for it. Returns false where neither may be. */
bool run_next(struct worker *worker);
/* Gives every job back that has not begun. */
void run_return_held(struct worker *worker);
/* Looks after event jobs: cancelled ones, late ones. */
void run_watch(struct worker *worker);
/* admission.c has done with a job (admission.h). */
void run_passed(struct later_job *job, double wait, const char *name);
/* later_job_finish(): 0, or -1 when its time was over before. */
int run_finish(struct later_job *job, uint32_t result);

/* 64 bits of chance: jitter, no secret. */
uint64_t run_random(void);

/* worker.c: something has changed: settle, run, reserve at the loop's next turn. */
void worker_kick(struct worker *worker);
/* Writes to the status pipe. */
void worker_report(struct worker *worker, enum worker_report what);
/* Tells the keeper that this page is worth looking at. */
void worker_busy(struct worker *worker);
/* Sends what is settled. */
void worker_flush(struct worker *worker);

#endif
