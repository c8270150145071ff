/*
 * admission.h: what a job needs beyond its reservation before it may run, and holds while it runs:
 * locks (its document's, its type's), places (max_running of its type, of its queue), limits.
 *
 * Locks and places are taken first, since they can be given back; a limit has counted for good. A
 * hold is entered in the slot page before it is asked for (slots.h), so that it is freed whatever
 * becomes of this worker. A job that does not get all it needs is returned for as long as backlog.h
 * says; no attempt, and nobody waits behind it. When a lock or a place is freed, the job that has
 * waited for it the longest, as far as is known, is due at once (wait_next.lua, hasten.lua).
 *
 * Calls are made on the worker's blocking client: one round trip each. A job that needs nothing
 * pays for none.
 */
#ifndef LATERD_ADMISSION_H
#define LATERD_ADMISSION_H

#include "worker/worker.h"

enum admission_kind { ADMISSION_LOCK = 'l', ADMISSION_PERMIT = 'p', ADMISSION_LIMIT = 'm' };

/* Takes what the job needs. 0: it has all of it; else the seconds it is to be returned for, with
 * the name of what it did not get in *name (borrowed until the next job); then it holds nothing. */
double admission_pass(struct later_job *job, const char **name);

/* Takes one lock for it, waiting up to `wait` seconds: LATER_LOCK_YES, LATER_LOCK_NO, or -1 with
 * *err. name is valid. */
int admission_lock(struct later_job *job, const char *name, double ttl, double wait,
                   struct later_error *err);

/* The lock of this name, if the job holds it, else NULL; gives it back. */
struct slot_hold *admission_held(const struct later_job *job, const char *name);
void admission_unlock(struct later_job *job, struct slot_hold *hold);

/* Frees all that the job holds. Its slot is still its own. */
void admission_free(struct later_job *job);

/* --- between admission.c, admission_hold.c and admission_next.c --- */

/* Enters what will be asked for. NULL: the table is full. */
struct slot_hold *admission_hold_enter(const struct later_job *job, enum hold_kind kind,
                                       const char *name, double ttl);
/* It is not ours any more, or never was; `state` says whether the keeper has to see to it. */
void admission_hold_leave(struct worker *worker, struct slot_hold *hold, enum hold_state state);

/* Enters a job that comes back in `wait` seconds in the line of those that wait. Best effort: its
 * turn comes in any case. */
void admission_note_waiting(const struct later_job *job, enum admission_kind kind, const char *name,
                            double wait);
/* Has the first of that line due at once. */
void admission_call_next(struct worker *worker, enum admission_kind kind, const char *name);

#endif
