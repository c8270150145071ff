/* clock.c: the monotonic clock. */
#include "base/clock.h"

#include <time.h>

double later_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
