/*
 * tally.h: counts of attempts by type: their outcomes, and histograms of waits and runs; and the
 * packed form that Redis keeps (pure).
 *
 * The packed form is bytes (doc/protocol.md, "History"): a version, then for each type its name,
 * the counts and the buckets that are not empty. Adding up what several laterds have packed gives
 * what they counted together, in any order.
 *
 *     struct later_tallies tallies = { 0 };
 *     if (!later_tallies_unpack(&tallies, bytes, len)) … not ours, nothing was added
 *     later_tallies_free(&tallies);
 */
#ifndef LATER_TALLY_H
#define LATER_TALLY_H

#include "history/histogram.h"
#include "job/document.h"
#include "job/ending.h"

#include <stdbool.h>
#include <stddef.h>

/* How many types have a row of their own; all others share the row without a name. */
#define LATER_TALLY_TYPES 200

/* The counts of one type. wait: from when the attempt could have begun until it began; run: until
 * it ended. */
struct later_tally {
    char type[LATER_TYPE_MAX + 1]; /* "": all types beyond the bound */
    uint64_t outcomes[LATER_OUTCOMES];
    uint64_t wait_us, run_us; /* sums in microseconds */
    struct later_histogram wait, run;
};

/* Adds all but the type. */
void later_tally_add(struct later_tally *to, const struct later_tally *from);

/* Return how many attempts ended, without those given back; and how many of these failed. */
uint64_t later_tally_attempts(const struct later_tally *tally);
uint64_t later_tally_failed(const struct later_tally *tally);

/* Rows by type, sorted by name. Zero it first. */
struct later_tallies {
    struct later_tally **rows; /* owned */
    size_t count, room;
};

/* Finds or makes the row of a type. If there are LATER_TALLY_TYPES already, it is the row "". NULL:
 * no memory. The row stays where it is until later_tallies_free(). */
struct later_tally *later_tallies_row(struct later_tallies *tallies, const char *type);

/* The row of a type, or NULL. */
struct later_tally *later_tallies_find(const struct later_tallies *tallies, const char *type);

/* Adds all rows up into *sum, which need not be initialized. */
void later_tallies_sum(const struct later_tallies *tallies, struct later_tally *sum);

/* Packs the rows; the caller frees the result. Its length goes into *len. NULL: no memory. */
char *later_tallies_pack(const struct later_tallies *tallies, size_t *len);

/* Adds packed rows. False: they are invalid, of a newer version, or there is no memory; in the
 * first two cases nothing is added. */
bool later_tallies_unpack(struct later_tallies *tallies, const char *bytes, size_t len);

/* Frees the rows; the struct is empty again. */
void later_tallies_free(struct later_tallies *tallies);

#endif
