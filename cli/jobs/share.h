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

struct share {
    double debt;  /* seconds of pauses that are due; less than 0: so much more was waited */
    double piece; /* seconds of waiting for answers, and a pause is worth its while */
};

void share_begin(struct share *share);

/* Redis has worked for us for `taken` seconds of the last `seconds`, the pause before included.
 * Returns the seconds of the pause that is due now, 0 or more. */
double share_pause(struct share *share, double taken, double seconds);

#endif
