/*
 * announce.h: tells the others every five seconds, in later:hosts, who we are and what we do; every
 * twenty where hundreds serve the same queues.
 *
 * Once a minute it asks whether somebody wants this host to be quiet, and when it is told that this
 * has changed (subscriber.h).
 *
 * Whenever the link comes up, the registry is written (registry.h), and Redis is asked whether it
 * is fit to keep jobs (redis_check.h). Fields of daemons that were not seen for a day are deleted
 * here, too.
 */
#ifndef LATERD_ANNOUNCE_H
#define LATERD_ANNOUNCE_H

#include "link/connections.h"
#include "link/link.h"
#include "queue/inspect.h"
#include "queues/announce_jobs.h"

struct announce;

#define ANNOUNCE_QUEUES 64

struct announce_state {
    uint32_t workers, busy, running; /* processes; of them with a job; jobs */
    uint64_t performed, failed;      /* attempts */
    uint32_t crashes;                /* of workers */
    bool weighs;                     /* memory is wanted, announce_weighs() */
    bool others_look;                /* queues.h: they also write the registry */
    uint32_t others;                 /* queues.h */
    uint64_t memory;                 /* bytes that are the own ones of laterd and its workers */
    double redis_now;                /* 0 = not known */
    struct announce_queue {
        char name[LATER_QUEUE_MAX + 1];
        uint32_t running;
    } queues[ANNOUNCE_QUEUES]; /* those with running jobs */
    uint32_t queue_count;
    struct announce_jobs jobs; /* some of them */
    struct connections connections;
    const char *fault, *reload_refused; /* NULL: none; as in health.h */
    bool paused;                        /* by a signal */
};

/* Counts a job that runs in this queue. */
void announce_count(struct announce_state *state, const char *queue);

/* What is called: with what redis_check.h finds; and when `later pause --host` and `later resume
 * --host` have said something new of this host, with NULL if it is not quiet. */
struct announce_calls {
    void (*judged)(void *arg, const char *why);
    void (*quieted)(void *arg, const struct later_pause *pause);
    void *arg;
};

/* config, link, host are borrowed. NULL: no memory. */
struct announce *announce_new(const struct config *config, struct link *link, const char *host,
                              const struct announce_calls *calls);
void announce_free(struct announce *announce);
void announce_configure(struct announce *announce, const struct config *config);

/* The link is up: registers the queues and asks Redis how it keeps its data. */
void announce_link_up(struct announce *announce);

/* Asks once more whether it is fit to keep jobs. */
void announce_ask(struct announce *announce);

/* Asks whether this host is to be quiet. */
void announce_ask_quiet(struct announce *announce);

/* Returns what Redis said when it last refused our write, or that it has not answered two of them
 * in a row; NULL: it takes writes. */
const char *announce_fault(const struct announce *announce);

/* Will the next announce_tell() write our state? Then the memory is asked for. */
bool announce_weighs(const struct announce *announce);

/* Called every second; every fifth time, or less often among many hosts, it writes our state, and
 * the registry again; that only each minute while others do. */
void announce_tell(struct announce *announce, const struct announce_state *state);

/* Had Redis lost our state when it was written last? Somebody may have emptied it. True once. */
bool announce_was_lost(struct announce *announce);

/* Says that we are gone. Nothing is written after that. */
void announce_withdraw(struct announce *announce);

/* Has that no answer yet? (On a Cluster the node may have to be connected first.) This is true for
 * a second at most. */
bool announce_leaving(const struct announce *announce);

#endif
