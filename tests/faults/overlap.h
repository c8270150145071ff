/*
 * overlap.h: were there more jobs of a kind at once, or within a time, than laterd may let through?
 * The end of an id tells the kind. What a fault explains is not counted: a fault at any moment from
 * the first to the last of the starts in question, since a lease may have run out in it.
 */
#ifndef FAULTS_OVERLAP_H
#define FAULTS_OVERLAP_H

#include "tally.h"

/* Runs that began while `most` others or more had begun and not ended; told as TAP comments. Those
 * whose worker died in them have no end and are left out. */
size_t overlap_at_once(const struct tally *tally, const char *suffix, size_t most);

/* Counts runs that began less than `seconds` after the one that is `most` runs before them. */
size_t overlap_too_close(const struct tally *tally, const char *suffix, size_t most,
                         double seconds);

#endif
