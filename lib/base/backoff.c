/* backoff.c: how long to wait before the next attempt. */
#include "base/backoff.h"

#include <math.h>

/* After this many doublings any base but 0 exceeds every limit, since a double has fewer exponents.
 * */
#define DOUBLINGS_MAX 4096

static double clamp(double seconds, double max)
{
    if (!(seconds > 0)) /* also for NaN */
        return 0;
    return seconds < max ? seconds : max;
}

static double exponential(const struct later_backoff *backoff, uint32_t nth, uint64_t random)
{
    double max = backoff->max < 0 ? LATER_DELAY_MAX : clamp(backoff->max, LATER_DELAY_MAX);
    double jitter = clamp(backoff->jitter, 1);
    double wait = clamp(ldexp(backoff->base, nth < DOUBLINGS_MAX ? (int)nth : DOUBLINGS_MAX), max);
    /* It uses 53 bits, as many as a double keeps, so that both ends can be reached and nothing is
     * rounded. */
    double chance = (double)(random >> 11) / (double)(UINT64_MAX >> 11);

    return wait * (1 - jitter * (1 - chance));
}

double later_backoff_delay(const struct later_backoff *backoff, uint32_t attempt, uint64_t random)
{
    uint32_t nth = attempt > 0 ? attempt - 1 : 0;

    if (backoff->list_count == 0)
        return exponential(backoff, nth, random);
    if (nth >= backoff->list_count)
        nth = backoff->list_count - 1;
    return clamp(backoff->list[nth], LATER_DELAY_MAX);
}
