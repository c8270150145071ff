/*
 * workers.h: all worker processes: those on a seat of the present configuration, and those of
 * earlier ones that are leaving.
 *
 * A seat is a place for one worker. When its process ends, the next one takes it: at once, or as
 * slowly as restart.h says.
 */
#ifndef LATERD_WORKERS_H
#define LATERD_WORKERS_H

#include "queues/announce.h"
#include "supervisor/process.h"

struct workers;

struct workers_options {
    const char *host;         /* for error records; borrowed */
    const char *slots_dir;    /* where pages are made; borrowed */
    struct keeper *keeper;    /* watches the pages; borrowed */
    bool listens;             /* workers do not wait for wakes themselves (wake_listener.h) */
    void (*ready)(void *arg); /* every seat's worker has loaded its plugins */
    /* The trial that workers_try() has begun is over. why is NULL: its workers take the seats if
     * this returns true. Else it was given up. */
    bool (*tried)(void *arg, const char *why);
    void (*gone)(void *arg);    /* one has ended while they were leaving */
    void (*crashed)(void *arg); /* one has died by itself */
    /* With wake listeners: one is idle that was not; one has ended that had not looked at this
     * queue. */
    void (*idle)(void *arg);
    void (*uncalled)(void *arg, const char *queue);
    void *arg;
};

/* NULL: no memory. */
struct workers *workers_new(struct event_base *base, const struct workers_options *options);
/* Frees it, when no process is left. NULL is fine. */
void workers_free(struct workers *workers);

/* Makes the seats of a generation and starts a worker on each. */
void workers_start(struct workers *workers, struct generation *generation);

/* Tries a generation: starts all its workers, which reserve nothing yet, beside those that are
 * there. When every one of them has loaded and started its plugins they take the seats, and the
 * others drain. When one has failed three times, or they are not ready within ten seconds, they are
 * ended and nothing has changed. One trial at a time. */
void workers_try(struct workers *workers, struct generation *generation);

/* Takes all seats away; all drain: they finish their jobs within `drain` seconds, get TERM then,
 * and KILL `grace` later (options of the generation that each is of). */
void workers_retire(struct workers *workers);

/* Stop or go on reserving: those alive, and those to come. */
void workers_pause(struct workers *workers, bool paused);
bool workers_paused(const struct workers *workers);

/* The master is at `peer` ("host:port") now: tells all that are alive. */
void workers_moved(struct workers *workers, const char *peer);

/* Ends the worker of this page, since a job of it is over its time. May be called again. */
void workers_expel(struct workers *workers, const struct slots *slots, const char *why,
                   double grace);

/* A child has ended: was it a worker? What it held is the keeper's then. */
bool workers_ended(struct workers *workers, pid_t pid, int status);

/* Is this child a worker of ours? */
bool workers_has(const struct workers *workers, pid_t pid);

/* Sends the TERMs and KILLs that are due. */
void workers_tick(struct workers *workers);

/* Calls fn for every process alive. */
void workers_each(const struct workers *workers, void (*fn)(struct process *process, void *arg),
                  void *arg);

/* Processes alive; on seats; on those of a trial; and what they do, added to *state. */
size_t workers_count(const struct workers *workers);
size_t workers_seats(const struct workers *workers);
size_t workers_on_trial(const struct workers *workers);
void workers_sum(const struct workers *workers, struct announce_state *state);

#endif
