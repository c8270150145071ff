/* live_clock.c: the monotonic clock of the test program, which can be turned. */
#include "live_clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t ahead; /* nanoseconds */

/* In the place of libc's: later_clock() and libevent come here. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, clock, t);
    int64_t ns;

    if (result < 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE))
        return result;
    ns = t->tv_nsec + atomic_load(&ahead);
    t->tv_sec += (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

void live_clock_advance(double seconds)
{
    atomic_fetch_add(&ahead, (int64_t)(seconds * 1e9));
}

double live_clock_true(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
