/* clock.c: the monotonic clock. */
#include "base/clock.h"

#include <time.h>

void later_sleep(double seconds)
{
    if (seconds > 0)
        nanosleep(
            &(struct timespec){ .tv_sec = (time_t)seconds,
                                .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) },
            NULL);
}

double later_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
