/*
 * tick.h: the instants at which an expression is due in a zone. Pure.
 *
 * When clocks change, cronie's rules apply (its manual, crontab(5) and cron(8)):
 *
 * - If minute or hour begins with a star, or with @every, each instant counts at which the clocks
 *   match: twice in an hour that they show twice, never in one that they skip. An hourly job runs
 *   every 60 minutes.
 * - Otherwise a time counts once a day: the first one, if clocks show it twice; the first instant
 *   after the leap, if they skip it. A daily job runs once on days of 23, 24 and 25 hours. Several
 *   times that are skipped together are one tick.
 * - A leap of more than three hours is not daylight saving: what it skips is left out.
 */
#ifndef LATER_TICK_H
#define LATER_TICK_H

#include "cron/expression.h"

/* How many years the search looks ahead: until each date has been every weekday, even across 2100,
 * which has no 29 February. */
#define LATER_TICK_YEARS 41

/* The first tick after an instant (UNIX time). False: none for 41 years. */
bool later_tick_next(const struct later_expression *expr, const struct later_zone *zone,
                     int64_t after, int64_t *tick);

/* Finds the last tick in (after, until]. False: there is none. The work is bounded, however many
 * there are. */
bool later_tick_last(const struct later_expression *expr, const struct later_zone *zone,
                     int64_t after, int64_t until, int64_t *tick);

/* Returns how many ticks are in (after, until], counting at most `most`. */
uint32_t later_tick_count(const struct later_expression *expr, const struct later_zone *zone,
                          int64_t after, int64_t until, uint32_t most);

/* Returns the earliest instant from `after` on such that at most `most` ticks are in (it, until].
 */
int64_t later_tick_after(const struct later_expression *expr, const struct later_zone *zone,
                         int64_t after, int64_t until, uint32_t most);

#endif
