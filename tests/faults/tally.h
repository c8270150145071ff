/*
 * tally.h: what was pushed against what ran: Jepsen's four sets for queues (lost, unexpected,
 * duplicated, recovered), from three logs and the state of Redis.
 *
 *     pushed   `ok|maybe|no id due`: the push was answered, may have arrived, was refused.
 *              `due`: CLOCK_MONOTONIC, not to be begun before that; 0 = at once
 *     trace    of trace_plugin.c
 *     faults   `start end what`: CLOCK_MONOTONIC
 */
#ifndef FAULTS_TALLY_H
#define FAULTS_TALLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#define TALLY_ID 48

struct push {
    char id[TALLY_ID];
    char outcome; /* of ok, maybe, no: the first letter */
    double due;
};

struct run {
    char id[TALLY_ID], token[20], result[8]; /* result "": it has no end */
    unsigned attempt;
    int pid;
    double start, end;
};

struct fault {
    double start, end;
    char what[64];
};

struct tally {
    struct push *pushes; /* by id */
    struct run *runs;    /* by id, start */
    struct fault *faults;
    size_t push_count, run_count, fault_count;

    size_t acked, unknown, refused;
    size_t done;        /* ids with a run that ended well */
    size_t lost;        /* acked, but neither done, nor buried by its handler, nor in Redis */
    size_t unexpected;  /* runs of what was never pushed, or refused */
    size_t duplicated;  /* runs after one that ended well, or that should have ended but did not */
    size_t twice;       /* of these, after one that ended well */
    size_t unexplained; /* of them: without a fault between the two beginnings, and without a job
                         * that ended the worker in which both ran */
    size_t recovered;   /* ids pushed without an answer that ran */
    size_t early;       /* runs before their time */
    size_t charged;     /* runs whose attempt is more than the runs begun so far */
    size_t left, dead;  /* in Redis: waiting or reserved; dead */
    bool conserved;     /* the counters of Redis add up, each job is in one set */
};

/* Reads the logs and counts. faults may be NULL. queues: names, NULL-terminated. redis: for each
 * queue the server that has it. Returns 0, or -1 with the reason on stderr. */
int tally_take(struct tally *tally, const char *pushed, const char *trace, const char *faults,
               redisContext *const *redis, const char *const *queues);
void tally_free(struct tally *tally);

/* As TAP comments: the numbers, and the first offenders. */
void tally_print(const struct tally *tally);

/* The first run of this id, or NULL; the next of the same id, or NULL. */
const struct run *tally_first(const struct tally *tally, const char *id);
const struct run *tally_next(const struct tally *tally, const struct run *run);

#endif
