/*
 * queues.h: the queues of this host, each once.
 *
 * A struct queue is made for each queue, and each shard of one, that this host serves or looks
 * after: its keys, its row of the configuration in force, and what each service (services.h) has of
 * it. A part belongs to its service; nobody else looks inside. A service that knows only some
 * queues, or of which there is much to know, makes its part when it is needed.
 *
 * A queue that a new configuration does not name is no longer served. It is freed when nothing of
 * it is under way and no service keeps anything of it.
 */
#ifndef LATERD_QUEUES_H
#define LATERD_QUEUES_H

#include "base/names.h"
#include "fault.h"
#include "link/connections.h"
#include "link/link.h"
#include "queue/lost.h"
#include "queue/queue.h"
#include "queues/sweep.h"

struct overlay;
struct timer;

/* --- the parts, each by the header of its service --- */

/* migrator.h */
struct migrate {
    struct timer *timer; /* NULL: it was never served */
    double next;         /* when the timer is due */
    bool rests; /* it had nothing: without a timer, the common look finds it; not on a Cluster */
    double lapse_from; /* INFINITY: it was refused, and not answered since */
    double sent;       /* the last call */
    double told;       /* later_clock(): the earliest due time heard of while asked; 0 = none */
    bool asked;
    double trimmed;
    struct fault refused, no_lapse;
};

/* overrides.h */
struct heed {
    struct timer *timer; /* NULL: nothing has ended by itself so far */
    bool asked;
    bool again; /* it has changed since, or could not be asked */
    bool known; /* it was answered once */
};

/* ticker.h; shards have none. */
struct tick {
    struct timer *timer; /* at the next tick; NULL: a shard, or it was never served */
    double at;           /* later_clock(): that tick, as told; INFINITY: the timer is not set */
    bool looking;
    size_t firing;  /* calls without an answer */
    bool was_first; /* it fired the last tick */
    double held;    /* later_clock() when one that was due could not be read here; 0: each could */
    double now;     /* Redis's clock minus ours, as of the last answer */
    size_t rank;    /* of the next page that is looked through */
    bool loading;
    bool anew;            /* while it was loading it was to be loaded again */
    bool again;           /* something was not put */
    struct fault refused; /* Redis refuses to fire */
    struct fault unread;  /* one cannot be read here */
};

/* reshard.h; shards have none. */
struct shards {
    uint32_t wanted; /* 0: what Redis says */
    bool asserted;   /* what is wanted was compared with the plan, and written where it differed */
    char text[SWEEP_PLAN_SIZE];
    struct later_plan plan;
    struct later_plan newest; /* of all that were seen: Redis may lose one in a failover */
    bool asked;
    uint32_t changing_to;
    struct sweep *sweep;
    double sweep_at, sweep_wait;
};

/* losses.h: what was seen of its counters. */
struct seen_sums {
    bool known;             /* `last` and `at` count */
    struct later_sums last; /* as of the last look */
    double at;              /* Redis's clock then; 0 = it was not known */
    bool stirred, asked;
    bool lost;              /* they have gone back */
    struct later_sums news; /* to this */
};

/* wake_listener.h */
struct wake {
    uint32_t pools;            /* a bit for each that serves it; 0: it is not waited for here */
    uint32_t next;             /* the same while a configuration is read */
    struct listener *listener; /* NULL: it is not waited for */
};

/* --- the queue --- */

struct queue {
    struct queues *queues;
    struct later_keys keys;
    const struct config_queue *config; /* NULL: it is not served */
    bool served;                       /* it was before this configuration; of services.c */
    size_t open;                       /* calls without an answer: queue_send() */

    struct migrate migrate;
    struct tick tick;
    struct shards shards;
    struct seen_sums sums;
    struct wake wake;
    struct heed heed;
    struct mover_news *news;       /* NULL: it had none */
    struct recorder_queue *record; /* NULL: nothing was counted */
    struct leases *leases;         /* of the keeper; NULL: no worker has held a job of it */
};

/* What services need of others. What they do not use may be missing. */
struct queues_options {
    const char *host;     /* for the error records of lapses, and the history */
    const char *identity; /* identity.h: marks schedules */
    /* This job, `TOKEN:id`, was cancelled while it was reserved. */
    void (*cancelled)(void *arg, const char *member);
    /* Whether this host is to be quiet may have changed. */
    void (*host_told)(void *arg);
    /* A queue has more shards than are served: load the configuration again. */
    void (*grown)(void *arg);
    bool all; /* a Cluster: no worker waits by itself, and each queue has its own listener */
    /* Is a worker of these pools (one bit each) idle? If not, wake_listener_idle() is called when
     * one is. */
    bool (*idle)(void *arg, uint32_t pools);
    /* Tells one of them to look at this queue. false: nobody is idle any more. */
    bool (*call)(void *arg, uint32_t pools, const char *queue);
    struct overlay *overlay; /* borrowed; NULL: nobody wants to know */
    /* What is laid over the queues is known: jobs may begin (overrides_settled()). */
    void (*settled)(void *arg);
    void *arg;
};

struct queues {
    struct queues_options options;
    struct event_base *base;
    char prefix[LATER_PREFIX_MAX + 1];
    const struct config *config; /* in force */
    struct link *link;
    struct later_names names; /* of struct queue */
    bool paused;              /* nothing is moved or fired */
    bool others_look;         /* the same, since other hosts do it: lookers.h */
    uint32_t others;          /* hosts that serve the same and do not look, as last heard */
    /* What migrate has answered, for the other services. NULL: nobody. */
    void (*told)(struct queue *queue, const struct later_migrated *migrated);

    struct lookers *lookers;
    struct migrator *migrator;
    struct mover *mover;
    struct ticker *ticker;
    struct reshard *reshard;
    struct losses *losses;
    struct recorder *recorder;
    struct subscriber *subscriber;
    struct overrides *overrides;
    struct wake_listener *wake_listener;
};

/* --- what services have, each in its own file: services.h --- */

struct service {
    void (*unmake)(struct queues *queues);
    int (*begin)(struct queue *queue);
    void (*end)(struct queue *queue);
    bool (*busy)(const struct queue *queue);
    void (*drop)(struct queue *queue);
    void (*configure)(struct queues *queues);
    void (*link_up)(struct queues *queues);
    void (*moved)(struct queues *queues, const char *peer);
    void (*told)(struct queue *queue, const struct later_migrated *migrated);
    const char *(*fault)(const struct queues *queues);
    void (*count)(const struct queues *queues, struct connections *connections);
};

extern const struct service recorder_service, lookers_service, ticker_service, mover_service,
    migrator_service, overrides_service, subscriber_service, wake_listener_service, reshard_service,
    losses_service;

/* --- all of them --- */

/* Without a queue yet. base, config and link are borrowed. NULL: no memory. */
struct queues *queues_new(struct event_base *base, const struct config *config, struct link *link,
                          const struct queues_options *options);
/* Frees it and its queues, after their services and the link. NULL is fine. */
void queues_free(struct queues *queues);

/* The queue of this name, or NULL. */
struct queue *queues_find(const struct queues *queues, const char *name);
/* The same, made if need be; the name must be valid. NULL: no memory. */
struct queue *queues_need(struct queues *queues, const char *name);
/* The i-th of names.count, in the order in which they were made. */
struct queue *queues_at(const struct queues *queues, uint32_t i);

/* The text of the first fault of a queue that is served; of(): where the queue has it. NULL: there
 * is none. Borrowed, until the next event. */
const char *queues_fault(const struct queues *queues,
                         const struct fault *(*of)(const struct queue *queue));

/* Is it a shard (`mail/3`)? What is told or written of the whole is not of shards. */
bool queue_is_shard(const struct queue *queue);

/* As link_send(), on behalf of a queue, which is not freed before the answer. fn may be NULL. */
int queue_send(struct queue *queue, struct later_command *cmd, later_answer_fn *fn, void *arg);

#endif
