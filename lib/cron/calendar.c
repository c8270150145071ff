/* calendar.c: days and dates. */
#include "cron/calendar.h"

#include <stdbool.h>

#define ERA_DAYS  146097 /* in 400 years, after which the calendar repeats */
#define EPOCH_DAY 719468 /* 1970-01-01, counted from 0000-03-01 */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Years begin in March here, so that a leap day is the last of its year; 153 days are the five
 * months from March to July, and again from August to December. */
int64_t later_days(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2), era = floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAY;
}

struct later_date later_date(int64_t days)
{
    int64_t era = floor_div(days + EPOCH_DAY, ERA_DAYS), of_era = days + EPOCH_DAY - era * ERA_DAYS;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / (ERA_DAYS - 1)) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    int month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);

    return (struct later_date){ .year = era * 400 + year + (month <= 2),
                                .month = month,
                                .day = (int)(of_year - (153 * from_march + 2) / 5 + 1) };
}

int later_month_days(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month - 1] + (month == 2 && leap);
}

int later_weekday(int64_t days)
{
    return (int)(((days + 4) % 7 + 7) % 7); /* 1970 began on a Thursday */
}

int64_t later_day_of(int64_t seconds)
{
    return floor_div(seconds, LATER_DAY);
}
