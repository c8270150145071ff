/*
 * cut_off.h: workers that do not reach Redis although their laterd does.
 *
 * Redis lets a connection live when its password changes, and none in when it has as many clients
 * as it may. Then a worker that makes its connections anew, as one that has slept, tries in vain,
 * while all else looks well. An outage that laterd sees itself is told by its own link.
 */
#ifndef LATERD_CUT_OFF_H
#define LATERD_CUT_OFF_H

#include "fault.h"
#include "supervisor/workers.h"

/* Notes the fault if workers have tried in vain for a while; it is over if none does. linked: for
 * how many seconds laterd itself has reached Redis without a break; 0: it does not, and nothing is
 * noted. Called every second. */
void cut_off_look(struct fault *fault, const struct workers *workers, double linked);

#endif
