/*
 * admission.h: what a job needs beyond its reservation before it may run, and holds while it runs:
 * locks (its document's, its type's), permits (max_running of its type, of its queue), limits.
 *
 * Input: a job that is fit to run. Output, by `done`: it has everything that it needs; or it has to
 * go back to `delayed`, without an attempt. Redis is asked on the worker's main link, for one thing
 * after the other, while the loop goes on. A job that needs nothing is done at once.
 *
 * Locks and permits are taken first, since they can be given back; a limit has counted for good. A
 * lease is entered in the slot page before it is asked for (slots.h), so that it is freed whatever
 * becomes of this worker. Jobs that wait for a lock or a permit stand in its line (line.h), those
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

/* wait: < 0: it has all of it; else the seconds it is to be returned for, since it did not get
 * `name`; then it holds nothing. */
typedef void admission_done_fn(struct later_job *job, double wait, const char *name);

/* One of a worker, which has its links by now. NULL: no memory. */
struct admission *admission_new(struct worker *worker, admission_done_fn *done);
/* The links must be freed before. NULL is fine. */
void admission_free(struct admission *admission);

/* Does it need anything of that? */
bool admission_needed(const struct later_job *job);

/* Takes what the job needs; `done` follows, or has been called. */
void admission_ask(struct later_job *job);

/* A return was answered: who was refused is in `delayed` by now. */
void admission_settled(struct admission *admission, const struct slot *slot, bool lost);

/* Frees all that the job holds. Its slot is still its own. */
void admission_leave(struct later_job *job);

/* Puts questions about lines on the link. */
void admission_flush(struct admission *admission);

/* Is a question about a line open? Then nothing may block the loop. */
bool admission_open(const struct admission *admission);

/* --- for handlers: these block --- */

/* Takes one lock, waiting up to `wait` seconds: LATER_LOCK_YES, LATER_LOCK_NO, or -1 with *err.
 * name is valid. */
int admission_lock(struct later_job *job, const char *name, double ttl, double wait,
                   struct later_error *err);

/* The lock of this name, if the job holds it, else NULL; gives it back. */
struct lock_lease *admission_held(const struct later_job *job, const char *name);
void admission_unlock(struct later_job *job, struct lock_lease *lease);

/* --- between admission.c and admission_lease.c --- */

struct admission {
    struct worker *worker;
    admission_done_fn *done;
    struct line *line;
    struct backlog *backlog; /* what was not free */
    struct line_question *
        *returns;       /* of each slot: a job that enters the line when it is returned */
    struct timer *look; /* after those that wait in lines */
    uint32_t leases;    /* locks and permits of our jobs */
    double complained;  /* when Redis's silence about them was told last */
};

/* Enters what will be asked for. NULL: the table is full. */
struct lock_lease *admission_lease_enter(const struct later_job *job, enum lock_lease_kind kind,
                                         const char *name, uint32_t max, double ttl);
/* It is not ours any more, or never was; `state` says whether the keeper has to see to it. */
void admission_lease_leave(struct admission *admission, struct lock_lease *lease,
                           enum lock_lease_state state);

#endif
