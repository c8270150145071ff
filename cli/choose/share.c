/* share.c: keeps to a tenth of Redis's time. */
#include "choose/share.h"

#include <math.h>

#define SHARE      0.098 /* a tenth, less our connection and the last piece, which are not measured */
#define PIECE_MIN  0.002 /* seconds */
#define PIECE_MAX  0.064
#define PAUSE_GOOD 0.02 /* seconds; if pauses are shorter, pieces of work get longer */
#define PAUSE_MAX  1.0
#define CREDIT_MAX 0.5
#define UNSEEN     0.0004 /* seconds that Redis cleans up and counts for us after its answers */

void share_begin(struct share *share, double way)
{
    *share = (struct share){ .piece = PIECE_MIN, .way = way };
}

/* The round trip may have been overestimated at the start if the machine was busy. */
bool share_called(struct share *share, double waited)
{
    share->way = fmin(share->way, waited);
    share->waited += waited;
    share->beyond += waited - share->way;
    return share->waited >= share->piece;
}

/* Redis's work includes work for others. For us it was never more than we have waited. */
static double taken(const struct share *share, double worked)
{
    return worked < 0 ? share->beyond : fmin(worked, share->waited + UNSEEN);
}

double share_pause(struct share *share, double worked, double seconds)
{
    share->debt += taken(share, worked) / SHARE - seconds;
    share->debt = fmax(-CREDIT_MAX, fmin(share->debt, PAUSE_MAX));
    share->waited = share->beyond = 0;
    if (share->debt < PAUSE_GOOD / 2)
        share->piece = fmin(2 * share->piece, PIECE_MAX);
    else if (share->debt > 2 * PAUSE_GOOD)
        share->piece = fmax(share->piece / 2, PIECE_MIN);
    return fmax(share->debt, 0);
}
