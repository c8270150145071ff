/*
 * keeper.h: looks after what the slot pages hold, for the supervisor.
 *
 *   - renews the leases of living workers every third of a lease, even while a handler blocks;
 *   - renews the locks and permits of running jobs (lock_leases.h);
 *   - tells Redis once a second how far they have come (reports.h);
 *   - gives back jobs that wait behind one that has run for 50 ms, also those whose reserve the
 *     worker has sent and not read the answer of;
 *   - says which worker is over its time;
 *   - settles at once what a dead worker held: a running job counts a crash, one that had not begun
 *     is returned untouched, a finished one is settled as it ended, a reserve without an answer is
 *     found by its token, and locks and permits are freed.
 *
 * While all workers are idle it does nothing: a worker reports on its status pipe when it holds
 * something again (keeper_busy()).
 */
#ifndef LATERD_KEEPER_H
#define LATERD_KEEPER_H

#include "keeper/aftermath.h"

struct keeper;
struct queues;

struct keeper_options {
    const char *host; /* for error records */
    /* A job of this worker is over its time, or its loop hangs: end the worker. Called again until
     * it has died. */
    void (*expel)(void *arg, struct slots *slots, const char *why);
    /* All that a dead worker held is settled; its page is not needed any more. */
    void (*settled)(void *arg, struct slots *slots);
    void *arg;
};

/* queues is borrowed, its present config until keeper_configure(). NULL: no memory. */
struct keeper *keeper_new(struct queues *queues, const struct keeper_options *options);
/* Frees it; the link of the queues must be freed before. NULL is fine. */
void keeper_free(struct keeper *keeper);
void keeper_configure(struct keeper *keeper, const struct config *config);

/* Adds the page of a new worker. It must stay mapped until `settled`. */
void keeper_watch(struct keeper *keeper, struct slots *slots);

/* A worker holds something. */
void keeper_busy(struct keeper *keeper);

/* A reservation, `TOKEN:id`, was withdrawn. If one of our workers holds it, it is told. */
void keeper_cancelled(struct keeper *keeper, const char *member);

/* The link is up: renews what could not be renewed meanwhile. */
void keeper_link_up(struct keeper *keeper);

/* The worker of this page is dead and reaped: settles what it held. The jobs that ran have ended
 * so, with `text` as their error. */
void keeper_died(struct keeper *keeper, struct slots *slots, enum later_ending ending,
                 const char *text);

/* Returns how many settlements and searches are not done yet. */
size_t keeper_open(const struct keeper *keeper);

/* Calls fn for the page of each dead worker that is not settled yet. */
void keeper_each_dead(const struct keeper *keeper, void (*fn)(void *arg, struct slots *slots),
                      void *arg);

#endif
