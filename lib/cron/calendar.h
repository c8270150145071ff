/*
 * calendar.h: days and dates of the Gregorian calendar. Pure.
 */
#ifndef LATER_CALENDAR_H
#define LATER_CALENDAR_H

#include <stdint.h>

#define LATER_DAY 86400 /* seconds */

struct later_date {
    int64_t year;
    int month; /* 1 … 12 */
    int day;   /* 1 … 31 */
};

/* Return the days from 1970-01-01 to a date, negative before; the date after this many days. Years
 * ±10^9. */
int64_t later_days(int64_t year, int month, int day);
struct later_date later_date(int64_t days);

/* 28 … 31. */
int later_month_days(int64_t year, int month);

/* 0 = Sunday … 6. */
int later_weekday(int64_t days);

/* Returns how many days there are in this many seconds, rounded down. */
int64_t later_day_of(int64_t seconds);

#endif
