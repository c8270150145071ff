/*
 * tick.h: the instants at which an expression is due in a zone. Pure.
 *
 * Where clocks are changed cronie's rules hold (its manual, crontab(5) and cron(8)):
 *
 * - If minute or hour begins with a star, or with @every, each instant counts at which the clocks
 *   match: twice in an hour that they show twice, never in one that they skip. An hourly job runs
 *   every 60 minutes.
 * - Otherwise a time counts once a day: the first one, if clocks show it twice; the first instant
 *   after the leap, if they skip it. A daily job runs once on days of 23, 24 and 25 hours. Several
 *   times that are skipped together are one tick.
 * - A leap of more than three hours is not daylight saving: what it skips does not happen.
 */
#ifndef LATER_TICK_H
#define LATER_TICK_H

#include "cron/expression.h"

/* How far ahead is looked: until each date has been every weekday, across a year 2100 without a
 * 29 February. */
#define LATER_TICK_YEARS 41

/* The first tick after an instant (UNIX time). False: none for 41 years. */
bool later_tick_next(const struct later_expression *expr, const struct later_zone *zone,
                     int64_t after, int64_t *tick);

/* The last tick in (after, until]. False: there is none. Bounded work, however many lie there. */
bool later_tick_last(const struct later_expression *expr, const struct later_zone *zone,
                     int64_t after, int64_t until, int64_t *tick);

/* How many ticks are in (after, until], at most `most`. */
uint32_t later_tick_count(const struct later_expression *expr, const struct later_zone *zone,
                          int64_t after, int64_t until, uint32_t most);

/* The earliest instant, not before `after`, such that at most `most` ticks are in (it, until]. */
int64_t later_tick_after(const struct later_expression *expr, const struct later_zone *zone,
                         int64_t after, int64_t until, uint32_t most);

#endif
