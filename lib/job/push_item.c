/* push_item.c: a job to push. */
#include "job/push_item.h"

static int refuse_both(const char *one, const char *other, struct later_error *err)
{
    return later_fail(err, LATER_E_DATA, "%s and %s: only one of them", one, other);
}

/* Would it expire before it is due? With `at` only Redis's clock could tell. */
static int check_life(const struct later_push_item *item, struct later_error *err)
{
    double wait = item->debounce > 0 ? item->debounce : item->in;

    if (item->has_expires_at)
        return refuse_both("expires_at", "expires_in", err);
    if (item->at > 0)
        return later_fail(err, LATER_E_DATA, "at and expires_in: give the time by expires_at");
    if (wait >= item->expires_in)
        return later_fail(err, LATER_E_DATA,
                          "expires_in: %.15g seconds from now it is not due yet, and would be lost",
                          item->expires_in);
    return 0;
}

static int check_nameless(const struct later_push_item *item, struct later_error *err)
{
    const struct {
        const char *name;
        bool is_set;
    } named[] = {
        /* @options named: { "{name}", item->{name} > 0 }, */
        { "unique_for", item->unique_for > 0 },
        { "again", item->again > 0 },
        { "debounce", item->debounce > 0 },
        { "throttle", item->throttle > 0 },
        /* @end */
    };

    /* From the end, since a line with debounce is one with again. */
    for (size_t i = sizeof named / sizeof named[0]; i-- > 0;)
        if (named[i].is_set)
            return later_fail(err, LATER_E_DATA, "%s: goes with an id: the same id is the same job",
                              named[i].name);
    return 0;
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
    if (item->expires_in > 0 && check_life(item, err) < 0)
        return -1;
    if (item->throttle > 0 && item->unique_for > 0)
        return refuse_both("throttle", "unique_for", err);
    if (item->max_wait > 0 && !debounced)
        return later_fail(err, LATER_E_DATA, "max_wait: goes with debounce");
    return item->id ? 0 : check_nameless(item, err);
}
