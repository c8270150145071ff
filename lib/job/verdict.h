/*
 * verdict.h: decides whether a job may run, and what follows when an attempt has ended. Pure.
 *
 * These rules are only here. Workers, the keeper (for dead workers) and `later reserve` use them.
 */
#ifndef LATER_VERDICT_H
#define LATER_VERDICT_H

#include "base/backoff.h"
#include "job/document.h"
#include "job/ending.h"

/* Limits for what a document may ask; 0 = none. */
struct later_ceiling {
    uint32_t attempts; /* at most */
    double timeout;    /* seconds, at most */
    double wait;       /* seconds between attempts, at least, before jitter */
};

/* What a job is allowed. */
struct later_policy {
    uint32_t max_attempts; /* attempts until it is buried */
    uint32_t crash_max;    /* crashes until it is buried */
    double timeout;        /* seconds that an attempt may run */
    struct later_backoff backoff;
    struct later_ceiling ceiling;
};

/* *policy has the values of the type or the configuration. The document overrides them, within the
 * ceiling. */
void later_policy_apply(struct later_policy *policy, const struct later_document *doc);

/* --- before an attempt --- */

enum later_fitness {
    LATER_FIT,
    LATER_FIT_EXPIRED, /* it was not begun in time: expire */
    LATER_FIT_USED_UP  /* its attempts or crashes are used up: bury, its last error stays */
};

/* attempts, crashes: so far (a negative number of crashes is none). begun: it has been before, and
 * does not expire. now: Redis's time; 0 if it is not known, then nothing has expired. */
enum later_fitness later_verdict_before(const struct later_policy *policy,
                                        const struct later_document *doc, uint32_t attempts,
                                        int32_t crashes, bool begun, double now);

/* --- after an attempt --- */

/* From the tenth attempt on a retry waits at least a second, whatever its backoff says. Otherwise a
 * job that fails at once could take all of a worker's time. */
#define LATER_FLOOR_ATTEMPT 10
#define LATER_FLOOR_SECONDS 1.0

/* Seconds that the backoff has for a job whose attempt of this number (from 1) has failed, after so
 * many crashes (negative = none) in attempts before it. The first of these had no wait, and so used
 * up none: the next failure has the first. random: as in later_backoff_delay(). */
double later_verdict_backoff(const struct later_backoff *backoff, uint32_t number, int32_t crashes,
                             uint64_t random);

/* An attempt that has ended. */
struct later_attempt {
    enum later_ending ending;
    bool beside_others; /* for TIMEOUT, CRASH or LEFT: nobody knows which of the jobs caused it */
    uint32_t number;    /* the number of this attempt, from 1 */
    int32_t crashes;    /* before it; negative = none */
    uint32_t max_attempts; /* 0 = no bound is known; so is crash_max */
    uint32_t crash_max;
    bool too_late;   /* the time for which it is tried again is over */
    double retry_in; /* seconds until the next attempt; negative or NaN: by the backoff; for a
                      * RETURNED one, its first wait */
    const struct later_backoff *backoff; /* NULL: none, so at once unless retry_in says otherwise */
    uint64_t random;                     /* any 64 random bits, for its jitter */
};

/* How to settle it: by the row of its ending, which may be another one by now (SUSPECT). */
struct later_verdict {
    enum later_ending ending;
    bool last;   /* no attempt follows: later_ending_verb() */
    double wait; /* seconds */
};

struct later_verdict later_verdict_after(const struct later_attempt *attempt);

#endif
