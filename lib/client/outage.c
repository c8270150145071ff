/* outage.c: how long a wait goes on while Redis is away. */
#include "client/outage.h"

#include "base/clock.h"
#include "client/call.h"

#include <math.h>

double later_outage_pause(double since, double until, double now)
{
    double left = fmin(until, since + LATER_OUTAGE_PATIENCE) - now;

    return fmin(fmax(left, 0), LATER_OUTAGE_AGAIN);
}

bool later_outage_is(const struct later_client *client, const struct later_error *err)
{
    return err->code == LATER_E_REDIS && !later_call_lasting(client);
}

bool later_outage_wait(struct later_outage *outage, const struct later_error *err)
{
    double now = later_clock(), pause;

    if (!later_outage_is(outage->client, err))
        return false;
    if (outage->since == 0)
        outage->since = now;
    pause = later_outage_pause(outage->since, outage->until, now);
    later_sleep(pause);
    return pause > 0;
}

void later_outage_over(struct later_outage *outage)
{
    outage->since = 0;
}
