/* exec_throttle.c: when a program may be started again, and how long its jobs pause. */
#include "exec_throttle.h"

#include <math.h>
#include <stdio.h>

#define START_WAIT     0.1 /* seconds before a program that died without a job is started again */
#define START_WAIT_MAX 5.0
#define PAUSE_MAX      300.0
#define QUIET          60.0 /* seconds between two whose output is logged */

void exec_throttle_ended(struct exec_throttle *throttle, double now, bool performed,
                         const char *why)
{
    double wait = START_WAIT;

    if (performed) {
        *throttle = (struct exec_throttle){ 0 };
        return;
    }
    if (throttle->failures++ == 0)
        throttle->since = now;
    for (unsigned i = 1; i < throttle->failures && wait < START_WAIT_MAX; i++)
        wait *= 2;
    throttle->start_at = now + fmin(wait, START_WAIT_MAX);
    snprintf(throttle->why, sizeof throttle->why, "%s", why);
}

bool exec_throttle_tells(struct exec_throttle *throttle, double now)
{
    bool tells = throttle->failures == 0 || now - throttle->told >= QUIET;

    if (tells)
        throttle->told = now;
    return tells;
}

double exec_throttle_pause(const struct exec_throttle *throttle, double now, double least)
{
    double wait = fmax(throttle->start_at - now, least);

    return throttle->failures ? fmax(wait, fmin((now - throttle->since) / 4, PAUSE_MAX)) : wait;
}
