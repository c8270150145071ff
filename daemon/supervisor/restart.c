/* restart.c: how fast a crashed worker comes back. */
#include "supervisor/restart.h"

#define FREE_CRASHES   5
#define GOOD_LIFE      10.0
#define LONGEST        60.0
#define LONGEST_BY_JOB 1.0

double restart_after(struct restart *restart, enum restart_cause cause, double lived)
{
    double longest = cause == RESTART_JOB ? LONGEST_BY_JOB : LONGEST, wait = 1;

    if (cause == RESTART_GOOD || lived >= GOOD_LIFE)
        restart->crashes = 0;
    if (cause == RESTART_GOOD)
        return 0;
    if (restart->crashes < UINT32_MAX)
        restart->crashes++;
    if (restart->crashes <= FREE_CRASHES)
        return 0;
    for (uint32_t i = FREE_CRASHES + 1; i < restart->crashes && wait < longest; i++)
        wait *= 2;
    return wait < longest ? wait : longest;
}
