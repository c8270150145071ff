/*
 * lock_leases.h: what jobs hold beyond their reservation, locks and permits, as it stands in the
 * slot pages: how it is freed, and what the supervisor does for it.
 *
 *   - While a job lives its locks are renewed every third of their ttl, its permits likewise: also
 *     those of a handler that blocks.
 *   - A lock or a permit that is lost (another has it, or by our clock its time is over) is told in
 *     the log once, and the job is ended like one whose reservation was withdrawn: another job may
 *     be running that it excludes, and what it did so far is not undone by going on.
 *   - What a worker could not free, since Redis did not answer, is freed from here.
 *   - What a dead worker held is freed at once (aftermath.c).
 *
 * Whoever frees asks who comes next (line.h). Taking is the worker's: admission.c.
 */
#ifndef LATERD_LOCK_LEASES_H
#define LATERD_LOCK_LEASES_H

#include "redis/command.h"
#include "reservation/line.h"
#include "link/link.h"
#include "reservation/slots.h"

struct lock_leases;

/* watched says whether a page is still that of a living worker. link is borrowed. NULL: no memory.
 */
struct lock_leases *lock_leases_new(struct link *link, const char *prefix,
                                    bool (*watched)(const void *arg, const struct slots *slots),
                                    const void *arg);
/* Frees it; its link must be freed before. NULL is fine. */
void lock_leases_free(struct lock_leases *leases);

/* Renews what is due in the page of a living worker, frees what was left. The caller flushes. */
void lock_leases_renew(struct lock_leases *leases, struct slots *slots, double now);

/* Encodes the freeing of a lease, and names the script; returns false where a handler has written
 * over it so that it has no name. What is not held, or by another, is not touched. */
bool lock_lease_free_command(const struct lock_lease *lease, const char *prefix,
                             struct later_command *cmd, int *script);

/* Asks who comes next, behind the freeing. */
void lock_lease_call_next(const struct lock_lease *lease, struct line *line);

#endif
