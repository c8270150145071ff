/*
 * announce_needs.h: tells, in our field of later:hosts, which locks, permits and limits jobs here
 * need, so that `later show` can find out what a job waits for.
 */
#ifndef LATERD_ANNOUNCE_NEEDS_H
#define LATERD_ANNOUNCE_NEEDS_H

#include "config/config.h"

#include <stdio.h>

#define ANNOUNCE_NEEDS 64 /* more are not told */

/* Each says for which type or queue it is, a name or a pattern, and how it is called. What ends in
 * a colon goes on with the job's type or queue, what ends in = with the member's value.
 * Writes `,"needs":[…]`, or nothing if jobs need nothing but what their documents name. */
void announce_needs_write(const struct config *config, FILE *out);

#endif
