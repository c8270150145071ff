/*
 * workers.h: all worker processes: those on seats of the present configuration, and those of
 * earlier configurations that are leaving.
 *
 * A seat is a place for one worker. When its process ends, a new one takes it, after the wait that
 * restart.h sets.
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
    struct quota *quota;      /* of all of them; borrowed; NULL: none */
    struct overlay *overlay;  /* the same */
    bool listens;             /* workers do not wait for wakes themselves (wake_listener.h) */
    void (*ready)(void *arg); /* every seat's worker has loaded its plugins */
    /* The trial that workers_try() began is over. why is NULL if it went well; then the workers
     * take the seats if this returns true. Otherwise the trial has failed. */
    bool (*tried)(void *arg, const char *why);
    void (*gone)(void *arg);    /* a leaving worker has ended */
    void (*crashed)(void *arg); /* one has died by itself */
    /* For wake listeners: a worker has become idle; a worker has ended without having looked at the
     * queue that it was called for. */
    void (*idle)(void *arg);
    void (*stirred)(void *arg); /* for sleepers.h: one has got jobs, and waits no longer */
    void (*spent)(void *arg);   /* the last job of the quota has begun */
    void (*uncalled)(void *arg, const char *queue);
    void *arg;
};

/* NULL: no memory. */
struct workers *workers_new(struct event_base *base, const struct workers_options *options);
/* Frees it; no process may be left. NULL is fine. */
void workers_free(struct workers *workers);

/* Makes the seats of a generation and starts a worker on each. */
void workers_start(struct workers *workers, struct generation *generation);

/* Tries a generation: starts all its workers beside the others; they reserve nothing yet. When all
 * have loaded and started their plugins, they take the seats, and the others drain. If one fails
 * three times, or they are not ready within ten seconds, they are ended and nothing has changed.
 * There can be one trial at a time. */
void workers_try(struct workers *workers, struct generation *generation);

/* Takes all seats away. All workers drain: they finish their jobs within `drain` seconds, then get
 * TERM, and KILL `grace` later (options of each worker's generation). */
void workers_retire(struct workers *workers);

/* Ends all that are leaving: TERM now, KILL after their `grace`, unless they are due earlier. */
void workers_quit(struct workers *workers);

/* Pauses or resumes reserving, in all workers now and later; those on trial reserve nothing in
 * either case. */
void workers_pause(struct workers *workers, bool paused);
bool workers_paused(const struct workers *workers);

/* Tells all workers that the master is now at `peer` ("host:port"). */
void workers_moved(struct workers *workers, const char *peer);

/* Tells them that our connection was cut: theirs may be, too, without a word. */
void workers_doubt(struct workers *workers);

/* Ends the worker of this page, since one of its jobs is over its time. May be called again. */
void workers_expel(struct workers *workers, const struct slots *slots, const char *why,
                   double grace);

/* A child has ended, and was not waited for. If it was a worker, reaps it, gives its page to the
 * keeper and returns true. */
bool workers_ended(struct workers *workers, pid_t pid);

/* Is this child a worker of ours? */
bool workers_has(struct workers *workers, pid_t pid);

/* Sends the TERMs and KILLs that are due. */
void workers_tick(struct workers *workers);

/* Calls fn for every process alive. */
void workers_each(const struct workers *workers, void (*fn)(struct process *process, void *arg),
                  void *arg);

/* Counts processes: alive; on seats; on seats of a trial. The last adds what they do to *state. */
size_t workers_count(const struct workers *workers);
size_t workers_seats(const struct workers *workers);
size_t workers_on_trial(const struct workers *workers);
void workers_sum(const struct workers *workers, struct announce_state *state);

#endif
