/* share.c: a tenth of Redis's time. */
#include "jobs/share.h"

#include <math.h>

#define SHARE      0.098 /* what is not seen of it makes a tenth: our connection, the last piece */
#define PIECE_MIN  0.002 /* seconds */
#define PIECE_MAX  0.064
#define PAUSE_GOOD 0.02 /* seconds; shorter pauses are made at greater distances */
#define PAUSE_MAX  1.0
#define CREDIT_MAX 0.5

void share_begin(struct share *share)
{
    *share = (struct share){ .piece = PIECE_MIN };
}

double share_pause(struct share *share, double taken, double seconds)
{
    share->debt += taken / SHARE - seconds;
    share->debt = fmax(-CREDIT_MAX, fmin(share->debt, PAUSE_MAX));
    if (share->debt < PAUSE_GOOD / 2)
        share->piece = fmin(2 * share->piece, PIECE_MAX);
    else if (share->debt > 2 * PAUSE_GOOD)
        share->piece = fmax(share->piece / 2, PIECE_MIN);
    return fmax(share->debt, 0);
}
