/*
 * schedule.h: a periodic job: when and in which zone it is due, what is pushed, and what to do
 * about late ticks, or if the last job has not ended. Pure.
 *
 * Its definition in Redis is text: lines `TAG=VALUE` (`at` first, others only where they are not
 * the default), an empty line, the document. Equal schedules have equal definitions.
 */
#ifndef LATER_SCHEDULE_H
#define LATER_SCHEDULE_H

#include "cron/tick.h"

#define LATER_SCHEDULE_NAME_MAX 64
#define LATER_SCHEDULE_ALL_MAX  100            /* missed ticks that `all` catches up on */
#define LATER_SCHEDULE_WINDOW   (int64_t)86400 /* seconds back that `all` looks */
#define LATER_SCHEDULE_MISSED   10000          /* missed ticks that are counted at a time */
#define LATER_SCHEDULE_LATE     60             /* seconds; the default */
#define LATER_SCHEDULE_TIME_MAX 31536000       /* of spread, late and expires_in */
#define LATER_SCHEDULE_JOBS_MAX 1000000000     /* of limit */

enum later_catch_up { LATER_CATCH_UP_LAST, LATER_CATCH_UP_NONE, LATER_CATCH_UP_ALL };
enum later_overlap {
    LATER_OVERLAP_ALLOW,
    LATER_OVERLAP_SKIP,
    LATER_OVERLAP_REPLACE,
    LATER_OVERLAP_QUEUE
};

struct later_schedule {
    char at[LATER_EXPRESSION_MAX + 1];
    char zone[LATER_ZONE_MAX + 1]; /* "" = UTC */
    enum later_catch_up catch_up;
    enum later_overlap overlap;
    int32_t spread;               /* seconds over which the jobs of a tick are spread */
    int32_t late;                 /* seconds after which a tick is missed */
    int32_t priority;             /* of the job */
    char group[65];               /* of the job; "" = none */
    int32_t expires_in;           /* seconds after it is due; 0: never */
    int64_t from, until;          /* no tick is before or after; UNIX time, 0: no bound */
    uint32_t limit;               /* how many of its jobs are pushed in all; 0: no limit */
    struct later_expression expr; /* of `at` */
};

/* The words of the enums, as a configuration and a definition have them, ended by NULL. */
extern const char *const later_catch_up_words[];
extern const char *const later_overlap_words[];

/* Is it `[A-Za-z0-9_.-]{1,64}`? */
bool later_schedule_name_valid(const char *name);

/* Reads `at`, and a zone in it, into *schedule, whose other members are set. zone: the zone given
 * separately, NULL = none. Opens the zone, so that errors are reported now. Returns 0, or -1 with
 * *err (LATER_E_DATA, LATER_E_SYSTEM). */
int later_schedule_set(struct later_schedule *schedule, const char *at, const char *zone,
                       struct later_error *err);

/* Returns the definition, malloc'ed, NUL-terminated beyond *len; NULL without memory. */
char *later_schedule_write(const struct later_schedule *schedule, const char *document, size_t size,
                           size_t *len);

/* Reads the lines of a definition. Returns 0, or -1 with *err. */
int later_schedule_read(struct later_schedule *schedule, const char *lines,
                        struct later_error *err);

/* Copies the value of a line `TAG=…` to out, cut at its room; "" if there is none. Returns out. */
char *later_schedule_value(const char *lines, const char *tag, char *out, size_t room);

/* Returns the name of the zone to open for it. Borrowed. */
const char *later_schedule_zone(const struct later_schedule *schedule);

/* Sets from and until, each NULL if it is not given, else as later_instant_read() takes it, in 2001
 * or later. Parts of a second are left out: ticks are whole. Returns 0, or -1 with *err
 * (LATER_E_USAGE; it names `from` or `until`). */
int later_schedule_bound(struct later_schedule *schedule, const char *from, const char *until,
                         struct later_error *err);

/* The first tick after an instant, between from and until. False: there is none. */
bool later_schedule_next(const struct later_schedule *schedule, const struct later_zone *zone,
                         int64_t after, int64_t *tick);

/* What to do at a tick. */
struct later_firing {
    bool push;
    int64_t tick;    /* to push */
    bool more;       /* false: there is no further tick */
    int64_t next;    /* then */
    uint32_t missed; /* left out */
    int32_t delay;   /* seconds from the tick to its job */
};

/* Decides what to do. name: of the schedule. due: its next tick, which has come. now: Redis's
 * clock. */
void later_schedule_fire(const struct later_schedule *schedule, const struct later_zone *zone,
                         const char *name, int64_t due, int64_t now, struct later_firing *firing);

/* The same, if only its ticks from an instant on are wanted, and this has come, but need not be
 * one: whoever set it knows no calendars. */
void later_schedule_answer(const struct later_schedule *schedule, const struct later_zone *zone,
                           const char *name, int64_t asked, int64_t now,
                           struct later_firing *firing);

#endif
