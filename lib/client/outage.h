/*
 * outage.h: how a call that waits for an end, of a job or of a flow, outlasts a Redis that is away.
 *
 *     struct later_outage outage = { .client = client, .until = later_clock() + seconds };
 *
 *     while ((ok = look()) < 0 && later_outage_wait(&outage, err)) {
 *     }
 *     later_outage_over(&outage);
 *
 * Away is a Redis that cannot be reached, does not answer in time, or says that it cannot serve us
 * now: it is starting, full or no master. A password that is refused, a right that we lack, a key
 * of a wrong type are no outage: they would be the answer again.
 */
#ifndef LATER_OUTAGE_H
#define LATER_OUTAGE_H

#include "later/client.h"

#include <stdbool.h>

/* clang-format off */
/* @errors wait: #define LATER_OUTAGE_{UPPER} {seconds} /@ seconds {help} @/ */
#define LATER_OUTAGE_AGAIN 0.5 /* seconds until a Redis that is away is asked again */
#define LATER_OUTAGE_PATIENCE 30.0 /* seconds without an answer after which a wait gives up */
/* @end */
/* clang-format on */

struct later_outage {
    struct later_client *client; /* borrowed */
    double until;                /* later_clock(): the end of the wait */
    double since;                /* the same: when a call failed first; 0: none since it worked */
};

/* Seconds until a Redis that is away since `since` is asked again; 0: the wait is over, or the
 * outage lasts for too long. All are of later_clock(). Pure. */
double later_outage_pause(double since, double until, double now);

/* Has the client's last later_call() failed with *err because Redis is away? */
bool later_outage_is(const struct later_client *client, const struct later_error *err);

/* That call has failed with *err. Returns true, after a pause, if the wait goes on. */
bool later_outage_wait(struct later_outage *outage, const struct later_error *err);

/* A call has worked. */
void later_outage_over(struct later_outage *outage);

#endif
