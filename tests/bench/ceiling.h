/*
 * ceiling.h: what Redis can do at most: the scripts and batches of laterd, sent by a client that
 * parses no document, runs no handler and keeps no slots.
 *
 * Each process has two connections, as a worker has. On each there is always a call under way: the
 * acks of what came last, and the next reserve, in one write; so Redis never waits for a client.
 */
#ifndef BENCH_CEILING_H
#define BENCH_CEILING_H

#include "stage.h"

#define CEILING_LEASE 30.0 /* seconds, of what such clients reserve */

struct speed {
    double seconds;
    double redis;  /* CPU seconds of Redis */
    double client; /* CPU seconds of all on the other side */
    double sent;   /* commands */
};

/* Pushes `count` jobs of type "null", with documents of `bytes` bytes, from one process. If `delay`
 * is not 0 they are due that many seconds later (0.000001: at once, but through `delayed`). */
struct speed ceiling_push(struct stage *stage, size_t count, size_t bytes, double delay);

/* Reserves and acks with this many processes until the queue is empty. */
struct speed ceiling_drain(struct stage *stage, int processes);

/* The document of job n: about `bytes` bytes, never less than 80. Its id into
 * id[LATER_NEW_ID_SIZE]. Static. */
const char *ceiling_document(size_t n, size_t bytes, char *id, size_t *len);

#endif
