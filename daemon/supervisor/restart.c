/* restart.c: how fast a crashed worker comes back. */
#include "supervisor/restart.h"

#define FREE_CRASHES 5
#define GOOD_LIFE    10.0
#define LONGEST      60.0

double restart_after(struct restart *restart, bool crashed, double lived)
{
    double wait = 1;

    if (!crashed || lived >= GOOD_LIFE)
        restart->crashes = 0;
    if (!crashed)
        return 0;
    if (restart->crashes < UINT32_MAX)
        restart->crashes++;
    if (restart->crashes <= FREE_CRASHES)
        return 0;
    for (uint32_t i = FREE_CRASHES + 1; i < restart->crashes && wait < LONGEST; i++)
        wait *= 2;
    return wait < LONGEST ? wait : LONGEST;
}
