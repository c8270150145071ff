/*
 * ending.h: how an attempt at a job ends, and what else ends a worker's hold on one: a row each.
 * Pure.
 *
 * Worker, keeper (for dead workers), `later reserve`, history, metrics and the conditions of
 * `later` read this table, and a slot page keeps an ending's number. What follows for one job is a
 * verdict (verdict.h). doc/protocol.md, "Attempts", has the same table; tests/unit/lib/test_ending
 * compares.
 */
#ifndef LATER_ENDING_H
#define LATER_ENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is done with a reserved job (queue.h). */
enum later_verb {
    LATER_VERB_ACK,
    LATER_VERB_EXPIRE,
    LATER_VERB_RELEASE,
    LATER_VERB_RETURN,
    LATER_VERB_BURY,
    LATER_VERB_TOUCH,
    LATER_VERB_FINISH /* ack or bury, of a job that leaves something: later_queue_finish() */
};

/* As what an attempt is counted. The order is that of the history's packed form (tally.h): new ones
 * at the end. */
enum later_outcome {
    LATER_OUTCOME_DONE,
    LATER_OUTCOME_RETRY,       /* it failed, and will be tried again */
    LATER_OUTCOME_BURY,        /* it failed, and the job is dead */
    LATER_OUTCOME_TIMEOUT,     /* it was over its time */
    LATER_OUTCOME_CRASH,       /* it killed its worker */
    LATER_OUTCOME_INTERRUPTED, /* laterd ended it, through no fault of its own */
    LATER_OUTCOME_RETURNED,    /* its handler gave it back: no attempt */
    LATER_OUTCOMES,
    LATER_OUTCOME_NONE = LATER_OUTCOMES /* nothing had begun */
};

/* "done" … Static. */
const char *later_outcome_name(enum later_outcome outcome);
/* Is it an attempt, of which the record counts the failed ones? */
bool later_outcome_is_attempt(enum later_outcome outcome);
bool later_outcome_failed(enum later_outcome outcome);

enum later_ending {
    LATER_ENDED_HELD, /* it had not begun. Also whatever is not an ending */
    LATER_ENDED_DONE,
    LATER_ENDED_RETRY,       /* it failed and may be tried again */
    LATER_ENDED_TIMEOUT,     /* it exceeded its time */
    LATER_ENDED_CRASH,       /* it killed its worker */
    LATER_ENDED_PROGRAM,     /* a program behind its handler crashed, which cost no worker */
    LATER_ENDED_LEFT,        /* worker and supervisor are both gone; nobody knows why */
    LATER_ENDED_LAPSED,      /* its lease ran out: the script `lapse` releases it */
    LATER_ENDED_BAD,         /* its document is bad */
    LATER_ENDED_BURY,        /* it failed, and trying again cannot help */
    LATER_ENDED_UNKNOWN,     /* no plugin has its type */
    LATER_ENDED_UNSERVED,    /* no plugin has had its type for too long */
    LATER_ENDED_RETURNED,    /* its handler gave it back */
    LATER_ENDED_INTERRUPTED, /* we stopped it, through no fault of its own */
    LATER_ENDED_SUSPECT,     /* it ran beside others; nobody knows which of them was to blame */
    LATER_ENDED_EXPIRED,     /* it was not begun in time */
    LATER_ENDED_USED_UP,     /* its attempts or crashes had been used up; its last error stays */
    LATER_ENDED_LINE,   /* it had not begun, and goes into a line (daemon/reservation/line.h) */
    LATER_ENDED_PAUSED, /* it had not begun, and its type is paused */
    LATER_ENDINGS
};

/* Its failed attempts are those whose `counted` failed (later_outcome_failed()); it keeps its turn
 * if its verb is RETURN. */
struct later_ending_row {
    const char *name;
    enum later_verb verb; /* RELEASE: of the last attempt it is BURY */
    const char *how;      /* the word for the script; NULL: it takes none */
    const char *kind;     /* of its error; NULL: it has none */
    enum later_outcome counted;
};

extern const struct later_ending_row later_endings[LATER_ENDINGS];

/* Return what is done with the job, and as what the attempt is counted. last: no attempt follows.
 */
enum later_verb later_ending_verb(enum later_ending ending, bool last);
enum later_outcome later_ending_counted(enum later_ending ending, bool last);

/* Returns the kind of error that is written so, static; NULL: there is none. */
const char *later_ending_kind(const char *word);

/* Writes all kinds, "retry, timeout, …", into text, whose room LATER_KINDS_ROOM is enough. */
#define LATER_KINDS_ROOM 128
void later_ending_kinds(char *text, size_t room);

#endif
