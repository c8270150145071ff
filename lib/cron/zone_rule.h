/*
 * zone_rule.h: the rule that holds after a zone's last change, in POSIX's form:
 * `CET-1CEST,M3.5.0,M10.5.0/3` (RFC 8536, section 3.3). Pure.
 */
#ifndef LATER_ZONE_RULE_H
#define LATER_ZONE_RULE_H

#include "cron/zone.h"

#include <stdbool.h>

struct zone_day {
    char form; /* 'M': the week-th weekday of a month, 5 = the last; 'J': day 1 … 365, none for
                  29 February; '0': day 0 … 365 */
    int month, week, day;
    int32_t time; /* seconds after that day's midnight, by the clock until then */
};

struct zone_rule {
    bool there;     /* false: the last offset stays */
    bool saving;    /* false: `offset` always */
    int32_t offset; /* seconds east of UTC */
    int32_t other;  /* while daylight saving lasts */
    struct zone_day begin, end;
};

/* Reads len bytes; 0 bytes are no rule. False: they do not have this form. */
bool zone_rule_read(struct zone_rule *rule, const char *text, size_t len);

/* Returns the span with the instant. */
struct later_zone_span zone_rule_at(const struct zone_rule *rule, int64_t at);

#endif
