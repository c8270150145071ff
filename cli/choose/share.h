/*
 * share.h: keeps long work to a tenth of Redis's time (pure).
 *
 * Each piece of work is followed by a pause, such that the work takes a tenth of both. A pause that
 * ended late, or work that took longer than measured, is made up for in the next pause. What is
 * carried over is bounded, so that a long stop of Redis, or a long wait for the reader of our
 * output, is made up for only in part.
 */
#ifndef LATER_CLI_SHARE_H
#define LATER_CLI_SHARE_H

#include <stdbool.h>

struct share {
    double debt;   /* seconds of pauses still due; negative: so much was paused too long */
    double piece;  /* seconds of waiting for answers after which a pause is worthwhile */
    double waited; /* since the last pause */
    double beyond; /* the part of it beyond round trips */
    double way;    /* seconds of a round trip: the shortest call so far */
};

/* way: seconds of a call that asks for nothing. */
void share_begin(struct share *share, double way);

/* Notes that a call took this many seconds. Returns whether it is time for a pause. */
bool share_called(struct share *share, double waited);

/* worked: the seconds that Redis says it has worked meanwhile. If negative, Redis does not tell,
 * and the time waited beyond round trips is used instead. seconds: the time since the last call of
 * this function, including the pause before. Returns the seconds to pause now, 0 or more. */
double share_pause(struct share *share, double worked, double seconds);

#endif
