/* tick.c: the instants at which an expression is due. */
#include "cron/tick.h"

#include "cron/calendar.h"

#define YEAR     (366 * (int64_t)LATER_DAY)
#define LEAP_MAX (3 * 3600) /* seconds; a larger change of clocks is not daylight saving */

/* Returns the first value from `from` on that is in the set; -1: none. */
static int first_in(uint64_t set, int from)
{
    set = from < 64 ? set >> from << from : 0;
    return set ? __builtin_ctzll(set) : -1;
}

/* Returns the first time of a day from `from` on, in seconds; -1: none. */
static int time_in(const struct later_expression *expr, int from)
{
    int hour = from / 3600, minute = from / 60 % 60, second = from % 60;
    int h = first_in(expr->in[LATER_FIELD_HOUR], hour), m, s;

    if (h == hour) {
        m = first_in(expr->in[LATER_FIELD_MINUTE], minute);
        s = m == minute ? first_in(expr->in[LATER_FIELD_SECOND], second) : 0;
        if (s < 0) {
            m = first_in(expr->in[LATER_FIELD_MINUTE], minute + 1);
            s = 0;
        }
        if (m >= 0)
            return h * 3600 + m * 60 +
                   (m == minute ? s : first_in(expr->in[LATER_FIELD_SECOND], 0));
        h = first_in(expr->in[LATER_FIELD_HOUR], hour + 1);
    }
    if (h < 0)
        return -1;
    return h * 3600 + first_in(expr->in[LATER_FIELD_MINUTE], 0) * 60 +
           first_in(expr->in[LATER_FIELD_SECOND], 0);
}

/* Finds the first matching time that clocks show, from `from` on and before `until`. What clocks
 * show is counted like UNIX time in UTC. */
static bool shown_next(const struct later_expression *expr, int64_t from, int64_t until,
                       int64_t *shown)
{
    int64_t first = later_day_of(from);

    for (int64_t day = first; day * LATER_DAY < until; day++) {
        int time;

        if (!later_expression_day(expr, day))
            continue;
        time = time_in(expr, day == first ? (int)(from - day * LATER_DAY) : 0);
        if (time >= 0) {
            *shown = day * LATER_DAY + time;
            return *shown < until;
        }
    }
    return false;
}

/* Finds the next tick if each instant counts. */
static bool next_elapsed(const struct later_expression *expr, const struct later_zone *zone,
                         int64_t after, int64_t *tick)
{
    int64_t at = after + 1, end = after + LATER_TICK_YEARS * YEAR, shown;

    while (at < end) {
        struct later_zone_span span = later_zone_at(zone, at);
        int64_t to = span.to < end ? span.to : end;

        if (shown_next(expr, at + span.offset, to + span.offset, &shown)) {
            *tick = shown - span.offset;
            return true;
        }
        at = to;
    }
    return false;
}

/* Returns the latest time that clocks have shown until an instant, apart from changes long ago. */
static int64_t shown_until(const struct later_zone *zone, int64_t at)
{
    struct later_zone_span span = later_zone_at(zone, at), before;
    int64_t shown = at + span.offset, last;

    if (span.from == INT64_MIN)
        return shown;
    before = later_zone_at(zone, span.from - 1);
    last = span.from - 1 + before.offset;
    return last > shown ? last : shown;
}

/* Finds when clocks first show a time, or skip it. False: they skip too much. */
static bool instant_of(const struct later_zone *zone, int64_t shown, int64_t *at)
{
    struct later_zone_span span = later_zone_at(zone, shown - 2 * LATER_DAY), before = span;

    while (span.to != INT64_MAX && shown >= span.to + span.offset) {
        before = span;
        span = later_zone_at(zone, span.to);
    }
    *at = shown - span.offset;
    if (span.from == INT64_MIN || *at >= span.from)
        return true;
    *at = span.from;
    return span.offset - before.offset <= LEAP_MAX;
}

/* Finds the next tick if each shown time counts once. */
static bool next_shown(const struct later_expression *expr, const struct later_zone *zone,
                       int64_t after, int64_t *tick)
{
    int64_t shown = shown_until(zone, after);
    int64_t end = shown + LATER_TICK_YEARS * YEAR;

    while (shown_next(expr, shown + 1, end, &shown)) {
        if (instant_of(zone, shown, tick) && *tick > after)
            return true;
    }
    return false;
}

bool later_tick_next(const struct later_expression *expr, const struct later_zone *zone,
                     int64_t after, int64_t *tick)
{
    if (expr->every) {
        *tick = (after / expr->every + 1) * expr->every;
        return true;
    }
    return expr->elapsed ? next_elapsed(expr, zone, after, tick)
                         : next_shown(expr, zone, after, tick);
}

bool later_tick_last(const struct later_expression *expr, const struct later_zone *zone,
                     int64_t after, int64_t until, int64_t *tick)
{
    int64_t from = after, to = until, next;

    if (!later_tick_next(expr, zone, after, tick) || *tick > until)
        return false;
    /* Invariant: a tick is in (from, until], none in (to, until]. */
    while (from + 1 < to) {
        int64_t middle = from + (to - from) / 2;

        if (later_tick_next(expr, zone, middle, &next) && next <= until)
            from = middle;
        else
            to = middle;
    }
    return later_tick_next(expr, zone, from, tick);
}

uint32_t later_tick_count(const struct later_expression *expr, const struct later_zone *zone,
                          int64_t after, int64_t until, uint32_t most)
{
    uint32_t count = 0;
    int64_t tick = after;

    while (count < most && later_tick_next(expr, zone, tick, &tick) && tick <= until)
        count++;
    return count;
}

int64_t later_tick_after(const struct later_expression *expr, const struct later_zone *zone,
                         int64_t after, int64_t until, uint32_t most)
{
    int64_t from = after, to = until;

    if (later_tick_count(expr, zone, after, until, most + 1) <= most)
        return after;
    /* Invariant: too many are in (from, until], but not in (to, until]. */
    while (from + 1 < to) {
        int64_t middle = from + (to - from) / 2;

        if (later_tick_count(expr, zone, middle, until, most + 1) > most)
            from = middle;
        else
            to = middle;
    }
    return to;
}
