/*
 * counts.h: what a worker has counted, in its slot page: by queue and type how attempts ended, how
 * long they waited and ran.
 *
 * A job costs its worker a few stores into memory, and no command. The counts only grow (and wrap).
 * The supervisor reads them each second, and once more after the worker's death. It adds what is
 * new to the queue's history (queues/recorder.h), and also counts the attempt that the death ended.
 *
 * A handler may overwrite them. So the reader remembers what it has seen, reads a row's queue and
 * type only once, and skips impossible values (counts_new()).
 */
#ifndef LATERD_COUNTS_H
#define LATERD_COUNTS_H

#include "history/tally.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define COUNTS_QUEUES 64 /* the first rows: in each of the first queues, types beyond the bound */
#define COUNTS_ROWS   (COUNTS_QUEUES + 960) /* then those of types */

struct counts {
    uint32_t queue; /* in the page's queues */
    char type[LATER_TYPE_MAX + 1];
    _Atomic uint32_t changes; /* grows with each attempt, as the last write */
    _Atomic uint32_t outcomes[LATER_OUTCOMES];
    _Atomic uint64_t wait_us, run_us;
    _Atomic uint32_t wait[LATER_BUCKETS], run[LATER_BUCKETS];
};

/* Zeroed, it is empty. */
struct counts_table {
    _Atomic uint32_t used; /* rows of types that are there */
    struct counts rows[COUNTS_ROWS];
};

/* Returns how many rows to look at, never more than exist. */
uint32_t counts_used(const struct counts_table *table);

/* Finds the row of a type in a queue, or makes it. If there is no room, it is the queue's row for
 * further types; NULL if it has none. hint: the index of the row that it may be. */
struct counts *counts_row(struct counts_table *table, uint32_t queue, const char *type,
                          const struct counts *hint);

/* Counts an attempt that has ended. wait, run: seconds; negative: not known. */
void counts_add(struct counts *row, enum later_outcome outcome, double wait, double run);

/* What the reader has seen of a row, in its own memory. */
struct counts_seen {
    uint32_t queue;
    char type[LATER_TYPE_MAX + 1];
    uint32_t changes;
    uint32_t outcomes[LATER_OUTCOMES];
    uint64_t wait_us, run_us;
    uint32_t wait[LATER_BUCKETS], run[LATER_BUCKETS];
};

/* Begins to read a new row. A type that cannot be one becomes "". */
void counts_begin(const struct counts *row, uint32_t index, struct counts_seen *seen);

/* Adds what is new in the row to *sum, unless that is impossible: more than a worker can do between
 * two looks. Returns whether anything was added. */
bool counts_new(const struct counts *row, struct counts_seen *seen, struct later_tally *sum);

#endif
