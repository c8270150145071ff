/*
 * expression.h: recurring times, as people write them. Pure.
 *
 *     minute hour day month weekday              0 3 * * mon-fri
 *     second minute hour day month weekday       with six fields the first is the second
 *     @hourly @daily @midnight @weekly @monthly @yearly @annually
 *     @every 90s                                 at multiples of it since 1970; also 2m30s, 1h, 7d
 *     TZ=Europe/Berlin 0 3 * * *                 or CRON_TZ=: with its zone
 *
 * A field is a list of numbers or names (jan-dec, sun-sat; 0 and 7 are Sunday), ranges, which may
 * wrap (22-2, fri-mon), and steps (10-20/2: every second one of a range; 5/10: from 5 to the end).
 * `?` is a star. A day may also be L, the last of the month; L-3, three before it; 15W, the working
 * day nearest to the 15th in the month; LW, the last working day. A weekday may also be mon#2, the
 * second Monday of the month; mon#-1 or 1L, the last.
 *
 * If both day and weekday are restricted, one of them is enough; if one of the two begins with a
 * star (also one with a step), both must match, as in cron.
 */
#ifndef LATER_EXPRESSION_H
#define LATER_EXPRESSION_H

#include "cron/zone.h"

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/* @schedule at: #define LATER_EXPRESSION_MAX {most} /@ bytes of its text @/ */
#define LATER_EXPRESSION_MAX 256 /* bytes of its text */
/* @end */
/* clang-format on */
#define LATER_EVERY_MAX 31536000 /* seconds */

/* Those names of times that people are told of. */
#define LATER_NICKNAMES "@hourly, @daily, @weekly, @monthly, @yearly"

enum later_field {
    LATER_FIELD_SECOND,
    LATER_FIELD_MINUTE,
    LATER_FIELD_HOUR,
    LATER_FIELD_DAY,
    LATER_FIELD_MONTH,
    LATER_FIELD_WEEKDAY,
    LATER_FIELD_COUNT
};

struct later_expression {
    uint64_t in[LATER_FIELD_COUNT]; /* bit n: the value n is in; weekday 0 = Sunday */
    uint32_t last_days;             /* bit n: the day n before the month's last */
    uint32_t near_days;             /* bit d: the working day nearest to d */
    bool last_working_day;
    uint16_t nth[7]; /* by weekday; bit n: the n-th of the month, 8 + n: the n-th last */
    bool either;     /* day or weekday is enough; else both must match */
    bool elapsed;    /* a star in minute or hour: every instant counts (tick.h) */
    int32_t every;   /* seconds; 0: by the fields */
    char zone[LATER_ZONE_MAX + 1]; /* that it names; "" = none */
};

/* Reads a text. Returns 0, or -1 with *err (LATER_E_DATA), which says what is wrong, and where in
 * the text. A date that never comes, like 30 February, is an error. */
int later_expression_read(struct later_expression *expr, const char *text, struct later_error *err);

/* Is a day of the calendar one of its days? */
bool later_expression_day(const struct later_expression *expr, int64_t days);

#endif
