/*
 * flow.h: how steadily the jobs of one producer end, as the trace says (trace_plugin.c). A
 * producer's ids begin with its prefix and `-`.
 */
#ifndef FAULTS_FLOW_H
#define FAULTS_FLOW_H

#include <stddef.h>

struct flow {
    double *ends; /* when its jobs ended well: CLOCK_MONOTONIC, in order */
    size_t count;
};

/* Reads the trace. Without memory, or a trace, the test ends. */
void flow_read(struct flow *flow, const char *trace, const char *prefix);
void flow_free(struct flow *flow);

/* How many ended between two times. */
size_t flow_ended(const struct flow *flow, double from, double to);

/* Where the arena's list of pushed jobs ends now: one look for all producers. */
long flow_mark(const char *pushed);

/* How many of a producer's jobs were pushed between two such marks. */
size_t flow_pushed(const char *pushed, const char *prefix, long from, long to);

/* The longest time between two times in which none ended. */
double flow_gap(const struct flow *flow, double from, double to);

#endif
