/*
 * share.h: a tenth of Redis's time, over the whole of a long work (pure).
 *
 * Each piece of work owes so much of a pause that it has taken a tenth of both. What is too much or
 * too little of it, for a sleep that ended late or work that took longer than it seemed, is carried
 * over to the next one; up to a bound, so that neither a long stop of Redis nor a long wait for a
 * reader of ours makes up for more than a moment.
 */
#ifndef LATER_CLI_SHARE_H
#define LATER_CLI_SHARE_H

#include <stdbool.h>

struct share {
    double debt;   /* seconds of pauses that are due; less than 0: so much more was waited */
    double piece;  /* seconds of waiting for answers, and a pause is worth its while */
    double waited; /* since the last pause */
    double beyond; /* of that, what was longer than the way there and back */
    double way;    /* seconds; the shortest call that was seen */
};

/* way: seconds that a call takes that asks for nothing. */
void share_begin(struct share *share, double way);

/* A call was answered after so many seconds. Returns whether it is time for a pause. */
bool share_called(struct share *share, double waited);

/* worked: the seconds that Redis says it has worked meanwhile; negative: it does not tell, and what
 * was waited beyond the way has to do. seconds: since this was asked last, the pause before
 * included. Returns the seconds of the pause that is due now, 0 or more. */
double share_pause(struct share *share, double worked, double seconds);

#endif
