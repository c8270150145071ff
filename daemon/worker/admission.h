/*
 * admission.h: what a job needs beyond its reservation before it may run, and holds while it runs:
 * locks (its document's, its type's), permits (max_running of its type, of its queue), limits.
 *
 * Input: a job that is fit to run. Output, by `done`: the job has everything that it needs, or must
 * go back to `delayed` without an attempt. Redis is asked on the worker's main link, for one thing
 * after the other, while the loop goes on. For a job that needs nothing, `done` is called at once.
 *
 * Locks and permits are taken first, since they can be given back; what a limit has counted cannot.
 * A lease is entered in the slot page before it is asked for (slots.h), so it is freed whatever
 * happens to this worker. Jobs that wait for a lock or a permit are in its line (line.h); those
 * that wait for a limit get turns (backlog.h).
 */
#ifndef LATERD_ADMISSION_H
#define LATERD_ADMISSION_H

#include "reservation/line.h"
#include "reservation/slots.h"
#include "worker/backlog.h"

struct later_error;
struct later_job;
struct worker;

/* wait < 0: the job has everything. Otherwise it holds nothing, and is to be returned for `wait`
 * seconds because it did not get `name`. */
typedef void admission_done_fn(struct later_job *job, double wait, const char *name);

/* For a worker, which must have its links. NULL: no memory. */
struct admission *admission_new(struct worker *worker, admission_done_fn *done);
/* The links must be freed before. NULL is fine. */
void admission_free(struct admission *admission);

/* Does it need anything of that? */
bool admission_needed(const struct later_job *job);

/* Takes what the job needs; `done` follows, or has been called. */
void admission_ask(struct later_job *job);

/* A return was answered, so a refused job is in `delayed` now. */
void admission_settled(struct admission *admission, const struct slot *slot, bool lost);

/* Frees all that the job holds. The slot must still be the job's. */
void admission_leave(struct later_job *job);

/* Sends the questions about lines. The caller flushes the link. */
void admission_flush(struct admission *admission);

/* Is a question about a line open? Then no handler may block the loop. */
bool admission_open(const struct admission *admission);

/* --- for handlers: these block --- */

/* Takes one lock, waiting up to `wait` seconds: LATER_LOCK_YES, LATER_LOCK_NO, or -1 with *err.
 * name is valid. */
int admission_lock(struct later_job *job, const char *name, double ttl, double wait,
                   struct later_error *err);

/* Return the lock of this name if the job holds it, else NULL; give it back. */
struct lock_lease *admission_held(const struct later_job *job, const char *name);
void admission_unlock(struct later_job *job, struct lock_lease *lease);

/* --- between admission.c and admission_lease.c --- */

struct admission {
    struct worker *worker;
    admission_done_fn *done;
    struct line *line;
    struct backlog *backlog; /* what was not free, and who waits */
    struct line_question *
        *returns;       /* of each slot: a job that enters the line when it is returned */
    struct timer *look; /* at the lines, for jobs that wait there */
    uint32_t leases;    /* locks and permits of our jobs */
    double complained;  /* when it was last logged that Redis does not answer */
};

/* Enters a lease before it is asked for. NULL: the table is full. */
struct lock_lease *admission_lease_enter(const struct later_job *job, enum lock_lease_kind kind,
                                         const char *name, uint32_t max, double ttl);
/* The lease is no longer ours, or never was. `state` says whether the keeper has to free it. */
void admission_lease_leave(struct admission *admission, struct lock_lease *lease,
                           enum lock_lease_state state);

#endif
