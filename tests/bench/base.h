/*
 * base.h: what is measured of two builds in turns.
 */
#ifndef BENCH_BASE_H
#define BENCH_BASE_H

#include "stage.h"

#include <stddef.h>

#define RUNS_MAX 9

enum figure {
    FILL_REDIS,  /* push in batches: Redis's CPU a job */
    DRAIN_RATE,  /* jobs a second */
    DRAIN_REDIS, /* reserve + ack */
    DRAIN_LATERD,
    SINGLE_REDIS,  /* later_push() over TCP */
    BYTES,         /* of Redis a waiting job */
    PICK_UP,       /* ms, median */
    SPREAD_REDIS,  /* reserve + ack of jobs in many queues */
    SPREAD_LATERD, /* and of all laterd's processes */
    SPREAD_BOTH,
    IDLE_COMMANDS, /* a second, with those inside scripts */
    IDLE_REDIS,    /* per cent of a core */
    FIGURES
};

/* One of the two builds. */
struct side {
    char folder[256];
    double values[FIGURES][RUNS_MAX];
};

/* One of its programs. The text is good until the next call. */
const char *side_program(const struct side *side, const char *name);
/* Runs a program of this side's to its end, with standard output in a file. */
void side_call(const struct side *side, const char *name, const char *out, char *const args[]);

/* --- many.c: a thousand queues --- */

/* Jobs that are spread over them evenly: pushed while all are paused, then done. */
void many_spread(struct stage *stage, struct side *side, size_t run, size_t count);
void many_idle(struct stage *stage, struct side *side, size_t run);

#endif
