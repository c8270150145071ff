/*
 * trouble.h: what is wrong, since when, how many, why, and what to do: one table of rules, from
 * which come `later status --trouble`, the pages, the metric laterd_trouble and the alerts of
 * etc/prometheus (pure).
 *
 * The caller has looked, and tells what it saw:
 *
 *     struct later_troubles troubles = { .rows = rows, .room = n };
 *
 *     later_trouble_redis(&troubles, &redis);
 *     later_trouble_host(&troubles, &host);          for each daemon
 *     later_trouble_alive(&troubles, &alive);        for all of them
 *     later_trouble_queue(&troubles, &queue);        for each queue
 *     later_trouble_type(&troubles, &type);          for each type of a queue
 *     later_troubles_sort(&troubles);                the worst first
 */
#ifndef LATER_TROUBLE_H
#define LATER_TROUBLE_H

#include "queue/override.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The worst first. */
enum later_rule {
    LATER_RULE_REDIS_FULL,
    LATER_RULE_WRITES_LOST,
    LATER_RULE_NO_LATERD,
    LATER_RULE_HOST_LOST,
    LATER_RULE_HOST_FAULT,
    LATER_RULE_QUEUE_UNSERVED,
    LATER_RULE_TYPE_UNKNOWN,
    LATER_RULE_BEHIND,
    LATER_RULE_FAILING,
    LATER_RULE_DEAD_GROWING,
    LATER_RULE_OVER_TIME,
    LATER_RULE_SCHEDULE_MISSED,
    LATER_RULE_FLOW_BLOCKED,
    LATER_RULE_TYPE_ELSEWHERE,
    LATER_RULE_PAUSED_LONG,
    LATER_RULES
};

/* name: for programs. words: when it is trouble; a test compares them with doc/later.1. alert: its
 * name in etc/prometheus/laterd.rules.yml. severity: critical, warning or info. */
struct later_rule_row {
    const char *name, *words, *alert, *severity;
};
extern const struct later_rule_row later_rules[LATER_RULES];

/* From when on it is trouble. */
#define LATER_TROUBLE_FULL      0.9    /* of Redis's memory */
#define LATER_TROUBLE_GONE      30.0   /* seconds since a daemon was seen */
#define LATER_TROUBLE_LOST      3600.0 /* after so many it is no news any more */
#define LATER_TROUBLE_BEHIND    300.0  /* seconds that the oldest ready job has waited */
#define LATER_TROUBLE_ATTEMPTS  20     /* in the last three minutes; fewer say nothing */
#define LATER_TROUBLE_FAILING   0.05   /* of these, and twice the part that fails usually */
#define LATER_TROUBLE_DEAD      600.0  /* seconds in which a job died */
#define LATER_TROUBLE_PAUSED    900.0  /* seconds of a pause while jobs wait */
#define LATER_TROUBLE_LATE      60.0   /* seconds after its time that a schedule has not run */
#define LATER_TROUBLE_LONG      60.0   /* seconds that a job runs, and */
#define LATER_TROUBLE_USUAL     5.0    /* times as long as 99 of 100 of its type */
#define LATER_TROUBLE_UNSERVED  5.0    /* seconds that jobs wait for nobody */
#define LATER_TROUBLE_UNKNOWN   10.0   /* seconds that one waits for a host with its type */
#define LATER_TROUBLE_ELSEWHERE 60.0   /* seconds that others hand it round, and one has its type */
#define LATER_TROUBLE_TYPES     10     /* jobs whose types are looked at */

struct later_trouble {
    enum later_rule rule;
    char queue[65], host[80], type[129]; /* "" = none */
    double since;                        /* UNIX time; 0 = not known */
    int64_t count;
    char text[160], why[240], command[200]; /* one line each */
};

/* rows: the caller's, with room for so many. What is beyond is only counted. */
struct later_troubles {
    struct later_trouble *rows;
    size_t count, room, more;
};
void later_troubles_sort(struct later_troubles *troubles);

/* --- what was seen; texts are borrowed and "" if there is none, times UNIX seconds --- */

struct later_trouble_redis {
    const char *name;  /* its address; NULL: not known */
    double used, most; /* bytes; most: 0 = no limit */
    const char *disk;  /* which write to its disk failed; NULL: none */
    const char *lost;  /* a queue whose counters went back; NULL: none */
    double lost_at;
    int64_t lost_count; /* such queues */
};
void later_trouble_redis(struct later_troubles *troubles, const struct later_trouble_redis *redis);

/* One daemon. back: another one of this host is alive. over: a job that runs for a
 * long time there, "" = none; usual: within how many seconds 99 of 100 of its type end, 0 = not
 * known; limit: its timeout, 0 = none. */
struct later_trouble_host {
    double now, seen;
    const char *name;
    int64_t running;
    bool back;
    const char *fault; /* what it says is wrong with it; "" = nothing */
    const char *over, *over_type, *over_queue;
    double over_since, usual, limit;
};
void later_trouble_host(struct later_troubles *troubles, const struct later_trouble_host *host);

/* Does the job `over` run for too long? */
bool later_trouble_is_over(const struct later_trouble_host *host);

/* How many daemons are alive; of those that are not, the one seen last (0: none is known); how many
 * jobs wait. */
struct later_trouble_alive {
    int alive;
    const char *last;
    double now, last_seen;
    int64_t waiting;
};
void later_trouble_alive(struct later_troubles *troubles, const struct later_trouble_alive *alive);

/* One queue. */
struct later_trouble_queue {
    double now;
    const char *name;
    int64_t ready, delayed, dead;
    double oldest;     /* seconds that the oldest ready job has waited; < 0 = none */
    int alive, served; /* daemons at all; that serve it; < 0 = not known */
    bool paused;
    const char *paused_by;
    double paused_since, paused_until;       /* 0 = not known, or none */
    const struct later_override *type_pause; /* the pause of a type; NULL: none */
    int64_t type_kept;                       /* jobs that it keeps aside */
    double rate;                             /* attempts a second in the last minutes */
    int64_t died;                            /* that died within LATER_TROUBLE_DEAD and are dead */
    double died_since;
    int64_t unknown; /* of the first ones in delayed: that wait LATER_TROUBLE_UNKNOWN for a type
                      * that nobody seems to have */
    const char *unknown_types[LATER_TROUBLE_TYPES]; /* in their order, each once */
    size_t unknown_type_count;
    double unknown_since;
    int64_t elsewhere; /* of these, that wait LATER_TROUBLE_ELSEWHERE for a type that one has */
    const char *elsewhere_type;
    double elsewhere_since;
    int64_t missed; /* schedules whose time was LATER_TROUBLE_LATE ago */
    const char *missed_name;
    double missed_at;
    int64_t blocked; /* flows in which all that is left waits for a dead job */
    const char *blocked_name;
    double blocked_since;
    int64_t news; /* of flows, in it, that nobody moves, and since when; 0: none */
    double news_since;
    const char *news_for; /* the queue that no laterd serves: itself, or the one they are for */
    int64_t overdue;      /* reservations whose lease is over and that nobody has returned */
};
void later_trouble_queue(struct later_troubles *troubles, const struct later_trouble_queue *queue);

/* A type in a queue: how many attempts ended in the last minutes and failed, and before that. */
struct later_trouble_type {
    const char *queue, *name;
    double since;
    uint64_t attempts, failed, usual_attempts, usual_failed;
};
void later_trouble_type(struct later_troubles *troubles, const struct later_trouble_type *type);

#endif
