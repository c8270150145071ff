/*
 * silent.h: workers that run nothing and do not answer their laterd.
 *
 * One that somebody has stopped, or that a plugin holds between two jobs, takes no job, while
 * laterd itself looks well and says that it serves its queues. Of a job that runs the keeper
 * judges.
 */
#ifndef LATERD_SILENT_H
#define LATERD_SILENT_H

#include "fault.h"
#include "supervisor/workers.h"

/* Asks those that run nothing now and then whether their loop turns (heartbeat.h). Notes the fault
 * if one has not answered for ten seconds; it is over when all do. Called every second. Returns
 * whether no worker answers: then this laterd does nothing at all. */
bool silent_look(struct fault *fault, const struct workers *workers);

#endif
