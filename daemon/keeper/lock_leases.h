/*
 * lock_leases.h: renews and frees the locks and permits of jobs, which are in the slot pages, for
 * the supervisor.
 *
 *   - While a job runs, its locks and permits are renewed every third of their ttl, even while its
 *     handler blocks.
 *   - A lock or permit may be lost: another has it, or by our clock its time is over. That is
 *     logged once, and the job is ended like one whose reservation was withdrawn, since a job that
 *     it excludes may be running by now.
 *   - What a worker could not free because Redis did not answer is freed from here.
 *   - What a dead worker held is freed at once (aftermath.c).
 *
 * Whoever frees one asks who comes next (line.h). Workers take them in admission.c.
 */
#ifndef LATERD_LOCK_LEASES_H
#define LATERD_LOCK_LEASES_H

#include "redis/command.h"
#include "reservation/line.h"
#include "link/link.h"
#include "reservation/slots.h"

struct lock_leases;

/* watched says whether the page with this number still belongs to a living worker. link is
 * borrowed. NULL: no memory. */
struct lock_leases *lock_leases_new(struct event_base *base, struct link *link, const char *prefix,
                                    bool (*watched)(const void *arg, uint64_t page),
                                    const void *arg);
/* Frees it; its link must be freed before. NULL is fine. */
void lock_leases_free(struct lock_leases *leases);

/* Renews what is due in the page of a living worker, and frees what it could not free. The caller
 * flushes. */
void lock_leases_renew(struct lock_leases *leases, struct slots *slots, double now);

/* Encodes the call that frees a lease. Returns false if a handler has
 * overwritten the lease's name. What is not held, or is held by another, is not touched. */
bool lock_lease_free_command(const struct lock_lease *lease, const char *prefix,
                             struct later_command *cmd);

/* Asks who comes next, after the call that frees it. */
void lock_lease_call_next(const struct lock_lease *lease, struct line *line);

#endif
