/*
 * conservation.h: the two sums that tell whether a queue has lost or doubled a job
 * (doc/protocol.md, "Counters"). `later check` and all tests ask here. Pure; borrows what it is
 * given.
 */
#ifndef LATER_CONSERVATION_H
#define LATER_CONSERVATION_H

#include "queue/inspect.h"

/* Are the jobs that came those that went and those that are there? That is the first sum: the
 * counters before LATER_CONSERVED, and the documents. All of `sizes` must have been read at one
 * moment. */
bool later_conserved(const struct later_sizes *sizes);

/* Returns how many members of ready, delayed, reserved, dead and waiting have no document: those
 * that are not adopted yet. If negative, some documents are in no set. */
int64_t later_unadopted(const struct later_sizes *sizes);

/* Writes the first sum with its numbers, "pushed 3 + adopted 0 = done 2 + … + jobs 1". 400 bytes
 * are enough. Returns text. */
const char *later_conserved_text(const struct later_sizes *sizes, char *text, size_t size);

#endif
