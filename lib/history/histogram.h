/*
 * histogram.h: durations counted in buckets that grow by 2^(1/4) (pure).
 *
 * Bucket i holds what is longer than 2^((i-1)/4 - 20) seconds and at most 2^(i/4 - 20): from a
 * microsecond to twelve days. The first takes what is shorter, the last what is longer. A quantile
 * is the middle of its bucket, so that it is within 9.1 % of the exact one. The bounds of powers of
 * two are those of a Prometheus native histogram of schema 2, and every fourth of them, exactly, a
 * power of two.
 */
#ifndef LATER_HISTOGRAM_H
#define LATER_HISTOGRAM_H

#include <stdint.h>

#define LATER_BUCKETS 161

struct later_histogram {
    uint64_t count[LATER_BUCKETS];
};

/* The bucket of a duration. Less than 0 and what is no number are in the first. */
unsigned later_bucket(double seconds);

/* Where a bucket ends, in seconds; of the last one, too. */
double later_bucket_end(unsigned bucket);

/* Adds `from` to `to`, bucket by bucket. */
void later_histogram_add(struct later_histogram *to, const struct later_histogram *from);

/* How many there are. */
uint64_t later_histogram_count(const struct later_histogram *histogram);

/* How many are in the buckets up to and with the one that ends at `seconds`, a power of two from
 * 2^-20 to 2^20: exactly those that took no longer. */
uint64_t later_histogram_within(const struct later_histogram *histogram, double seconds);

/* The duration that a part of them, 0 < part <= 1, does not exceed (nearest rank); negative where
 * there are none. */
double later_histogram_quantile(const struct later_histogram *histogram, double part);

#endif
