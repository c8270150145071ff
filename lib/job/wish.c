/* wish.c: when a job is to be pushed. */
#include "job/wish.h"

static int refuse_both(const char *one, const char *other, struct later_error *err)
{
    return later_fail(err, LATER_E_DATA, "%s and %s: only one of them", one, other);
}

int later_wish_check(const struct later_wish *wish, struct later_error *err)
{
    bool debounced = wish->debounce >= 0;

    if (wish->in >= 0 && wish->at >= 0)
        return later_fail(err, LATER_E_DATA, "in and at: must not both be there");
    if (debounced && wish->in >= 0)
        return refuse_both("debounce", "in", err);
    if (debounced && wish->at >= 0)
        return refuse_both("debounce", "at", err);
    if (wish->throttle > 0 && wish->unique_for > 0)
        return refuse_both("throttle", "unique_for", err);
    if (wish->max_wait > 0 && !debounced)
        return later_fail(err, LATER_E_DATA, "max_wait: goes with debounce");
    if (!wish->named && (debounced || wish->throttle > 0 || wish->again))
        return later_fail(err, LATER_E_DATA, "%s: goes with an id: the same id is the same job",
                          debounced            ? "debounce"
                          : wish->throttle > 0 ? "throttle"
                                               : "again");
    return 0;
}
