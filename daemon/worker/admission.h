/*
 * admission.h: what a job needs beyond its reservation before it may run, and holds while it runs:
 * locks (its document's, its type's), permits (max_running of its type, of its queue), limits.
 *
 * Input: a job that is fit to run. Output, by `done`: the job has everything that it needs, or must
 * go back to `delayed` without an attempt. Redis is asked on the worker's main link, for one thing
 * after the other, while the loop goes on; of the same limit for many jobs in one call. For a job
 * that needs nothing, `done` is called at once.
 *
 * A job that does not get all of it gives back what it has got, also what a limit has counted, and
 * waits in the line of what it did not get (line.h). A lease is entered in the slot page before it
 * is asked for (slots.h), so it is freed whatever happens to this worker; what a limit has counted
 * stays counted then, until its time is over.
 *
 *     admission_need.c    what a job needs
 *     admission.c         asks for it
 *     admission_lease.c   the locks and permits of jobs in the slot page
 *     admission_line.c    who waits, and when to look after them; what limits have counted
 *     put_off.c           those that wait need not look for themselves soon
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
 * seconds, or until `wait` if that is a time (10^9 or more), because it did not get `name`. */
typedef void admission_done_fn(struct later_job *job, double wait, const char *name);

/* For a worker, which must have its links. NULL: no memory. */
struct admission *admission_new(struct worker *worker, admission_done_fn *done);
/* The links must be freed before. NULL is fine. */
void admission_free(struct admission *admission);

/* Does it need anything of that? */
bool admission_needed(const struct later_job *job);

/* If the job has waited in a line for what nobody asks of it here, since the option was taken out,
 * it leaves the line, and calls others: nobody else does. So it does if it does not come, since its
 * type is paused: the others need not wait for it. */
void admission_stand_back(const struct later_job *job, bool comes);

/* Takes what the job needs; `done` follows, or has been called. */
void admission_ask(struct later_job *job);

/* A return was answered, so a refused job is in `delayed` now; or, with `lost`, the outbox had no
 * memory for it. Its slot becomes FREE when it is in its line. */
void admission_settled(struct admission *admission, struct slot *slot, bool lost);

/* The job has begun: its limits count it from now on. Written at once, since a handler may block
 * the loop. Once is enough; then it does nothing. */
void admission_begun(struct later_job *job);

/* Forgets what limits have counted, without telling them: before the job is freed. */
void admission_forget(struct later_job *job);

/* Frees all that the job holds, and what was counted if it has not begun. The slot must still be
 * the job's. */
void admission_leave(struct later_job *job);

/* Sends the questions to limits and about lines. The caller flushes the link. */
void admission_flush(struct admission *admission);

/* Is a question about a line open? Then no handler may block the loop. */
bool admission_open(const struct admission *admission);

/* Does it look after jobs that wait in a line, each second or when a limit opens? */
bool admission_looks_after(const struct admission *admission);

/* Returns how many slots are in use although their jobs were given back. */
size_t admission_entering(const struct admission *admission);

/* --- for handlers: these block --- */

/* Takes one lock, waiting up to `wait` seconds: LATER_LOCK_YES, LATER_LOCK_NO, or -1 with *err.
 * name is valid. */
int admission_lock(struct later_job *job, const char *name, double ttl, double wait,
                   struct later_error *err);

/* Return the lock of this name if the job holds it, else NULL; give it back. */
struct lock_lease *admission_held(const struct later_job *job, const char *name);
void admission_unlock(struct later_job *job, struct lock_lease *lease);

/* --- between the files of admission --- */

struct admission {
    struct worker *worker;
    admission_done_fn *done;
    struct line *line;
    struct admission_crowd *crowds; /* jobs that ask a limit, not sent */
    struct backlog *backlog;        /* what was not free, and who waits */
    struct line_question *
        *returns;        /* of each slot: a job that enters the line when it is returned */
    struct put_off *off; /* those that are in a line now */
    struct timer *look;  /* at the lines, for jobs that wait there */
    double look_at;      /* when it is due; 0: not set */
    uint32_t leases;     /* locks and permits of our jobs */
    uint32_t freeing;    /* of them, those whose freeing has no answer */
    double complained;   /* when it was last logged that Redis does not answer */
};

struct admission_need {
    struct later_line line; /* its name is `name` */
    char name[LATER_LOCK_MAX + 1];
};

/* Finds the job's n-th need, as configured: what is laid over that (overlay.h) is looked up when
 * Redis is asked. False if it has fewer. Locks come first, then permits, then limits, so every job
 * asks in the same order. */
bool admission_need(const struct later_job *job, uint32_t n, struct admission_need *need);

/* Makes the lines' part. Returns 0, or -1 without memory. */
int admission_line_begin(struct admission *admission);

/* What is known of a thing, or NULL. The second makes it; NULL without memory or room. */
struct backlog_row *admission_row(const struct admission *admission, const struct later_line *at);
struct backlog_row *admission_row_made(struct admission *admission, const struct later_line *at);

/* A limit has counted the job; uncount gives all of that back. */
void admission_counted(struct later_job *job, const struct later_line *at,
                       const struct later_limit_answer *answer);
void admission_uncount(struct later_job *job);

/* Enters a lease before it is asked for. NULL: the table is full. */
struct lock_lease *admission_lease_enter(const struct later_job *job, enum lock_lease_kind kind,
                                         const char *name, uint32_t max, double ttl);
/* The lease is no longer ours, or never was. `state` says whether the keeper has to free it. */
void admission_lease_leave(struct admission *admission, struct lock_lease *lease,
                           enum lock_lease_state state);

#endif
