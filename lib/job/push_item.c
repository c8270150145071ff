/* push_item.c: a job to push. */
#include "job/push_item.h"

static int refuse_both(const char *one, const char *other, struct later_error *err)
{
    return later_fail(err, LATER_E_DATA, "%s and %s: only one of them", one, other);
}

int later_push_check(const struct later_push_item *item, struct later_error *err)
{
    bool debounced = item->debounce > 0;

    if (item->in > 0 && item->at > 0)
        return refuse_both("in", "at", err);
    if (debounced && item->in > 0)
        return refuse_both("debounce", "in", err);
    if (debounced && item->at > 0)
        return refuse_both("debounce", "at", err);
    if (item->throttle > 0 && item->unique_for > 0)
        return refuse_both("throttle", "unique_for", err);
    if (item->max_wait > 0 && !debounced)
        return later_fail(err, LATER_E_DATA, "max_wait: goes with debounce");
    if (!item->id && (debounced || item->throttle > 0 || item->again))
        return later_fail(err, LATER_E_DATA, "%s: goes with an id: the same id is the same job",
                          debounced            ? "debounce"
                          : item->throttle > 0 ? "throttle"
                                               : "again");
    return 0;
}
