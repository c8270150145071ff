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

/* clang-format off */
/* @schedule late: #define LATER_SCHEDULE_LATE {unsaid} /@ seconds; the default @/ */
#define LATER_SCHEDULE_LATE 60 /* seconds; the default */
/* @end */

/* @schedule choice: enum later_{name} { {constants} }; */
enum later_catch_up { LATER_CATCH_UP_LAST, LATER_CATCH_UP_NONE, LATER_CATCH_UP_ALL };
enum later_overlap { LATER_OVERLAP_ALLOW, LATER_OVERLAP_SKIP, LATER_OVERLAP_REPLACE, LATER_OVERLAP_QUEUE };
/* @end */
/* clang-format on */

/* Of what is not said text is "", and a number the one of later_schedule_unsaid(). */
struct later_schedule {
    /* clang-format off */
    /* @schedule option: {field}; /@ {help} @/ */
    char at[LATER_EXPRESSION_MAX + 1]; /* when it is due: five fields (minute hour day month weekday), six with the second first, or @hourly, @every 90s … */
    char zone[LATER_ZONE_MAX + 1]; /* by whose clocks it is due, such as Europe/Berlin */
    enum later_catch_up catch_up; /* ticks missed while no host was up: the last, none, or all of a day, at most 100 */
    enum later_overlap overlap; /* if the last job has not ended: allow, skip, replace it if it waits, queue one */
    int32_t spread; /* jobs are spread over this time after their ticks */
    int32_t late; /* a tick that is later than this is missed */
    int32_t priority; /* priority of its jobs, higher first */
    char group[64 + 1]; /* the group of its jobs */
    int32_t expires_in; /* a job that has not begun this long after it was due is dropped */
    int64_t from; /* no tick is before this time */
    int64_t until; /* no tick is after this time */
    uint32_t limit; /* how many jobs it pushes in all */
    /* @end */
    /* clang-format on */
    struct later_expression expr; /* of `at` */
};

/* What an option is in a struct later_schedule. */
enum later_schedule_kind {
    LATER_SCHEDULE_EXPRESSION, /* char[] */
    LATER_SCHEDULE_ZONE,       /* char[] */
    LATER_SCHEDULE_CHOICE,     /* an enum: the place of a word */
    LATER_SCHEDULE_SPAN,       /* int32_t: whole seconds */
    LATER_SCHEDULE_RANK,       /* int32_t */
    LATER_SCHEDULE_GROUP,      /* char[] */
    LATER_SCHEDULE_LIFE,       /* int32_t: whole seconds, 0: without end */
    LATER_SCHEDULE_START,      /* int64_t: UNIX seconds, 0: no bound */
    LATER_SCHEDULE_END,        /* the same */
    LATER_SCHEDULE_COUNT       /* uint32_t; 0: no limit */
};

/* An option of a schedule, as schedule.tab has it. */
struct later_schedule_option {
    const char *name; /* in a definition: catch_up */
    const char *word; /* as an option of a command: catch-up */
    enum later_schedule_kind kind;
    double least, most;       /* of a number, or characters; of a time when somebody gives it */
    int64_t unsaid;           /* its number if it is not said */
    const char *const *words; /* of a choice, ended by NULL */
    size_t in_schedule;       /* its place in struct later_schedule */
};

/* In the order of the lines of a definition. */
extern const struct later_schedule_option later_schedule_options[];
extern const size_t later_schedule_option_count;

/* Returns a schedule of which nothing is said. */
struct later_schedule later_schedule_unsaid(void);

/* Sets an option that is a number. It checks nothing. */
void later_schedule_put(struct later_schedule *schedule, const struct later_schedule_option *option,
                        int64_t number);

/* Returns which word of a choice this is; -1: none. */
int later_schedule_word(const struct later_schedule_option *option, const char *word);

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

/* The same of UNIX times, each 0 if it is not given. */
int later_schedule_between(struct later_schedule *schedule, double from, double until,
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
