/*
 * reports.h: sends the progress of running jobs, and what they leave, from the slot pages to Redis.
 *
 * Changes are sent once a second, one call for each token. Best effort: the next change replaces
 * one that is lost. Redis refuses them for a job that now belongs to another.
 */
#ifndef LATERD_REPORTS_H
#define LATERD_REPORTS_H

#include "link/link.h"
#include "reservation/outbox.h"

struct reports;

/* keys and arg are as for the outbox. NULL: no memory. */
struct reports *reports_new(struct link *link, outbox_keys_fn *keys, void *arg);
void reports_free(struct reports *reports);

/* Is it time for a look at all pages? */
bool reports_due(struct reports *reports, double now);

/* Sends what is new in one page. The caller flushes the link. */
void reports_send(const struct reports *reports, struct slots *slots);

#endif
