/*
 * histogram.h: durations counted in buckets that grow by 2^(1/4) (pure).
 *
 * Bucket i holds durations longer than 2^((i-1)/4 - 20) seconds and at most 2^(i/4 - 20): from a
 * microsecond to twelve days. The first bucket also has shorter ones, the last one longer ones. A
 * quantile is the middle of its bucket, so it is within 9.1 % of the exact value. The bounds are
 * those of a Prometheus native histogram of schema 2; every fourth is exactly a power of two.
 */
#ifndef LATER_HISTOGRAM_H
#define LATER_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

#define LATER_BUCKETS_OCTAVE 4
#define LATER_OCTAVES        20 /* octaves below a second, and as many above */
#define LATER_BUCKETS        (2 * LATER_OCTAVES * LATER_BUCKETS_OCTAVE + 1)

struct later_histogram {
    uint64_t count[LATER_BUCKETS];
};

/* Returns the bucket of a duration. Negative numbers and NaN are in the first one. It is inline and
 * works on the bits of the double (IEEE 754), since it is called twice a job. */
static inline unsigned later_bucket(double seconds)
{
    uint64_t bits, part;
    int bucket;

    if (!(seconds > 0))
        return 0;
    if (seconds >= 0x1p20)
        return LATER_BUCKETS - 1;
    memcpy(&bits, &seconds, sizeof bits);
    part = bits & 0xfffffffffffff; /* the fraction of a number from 1 up to 2 */
    bucket = ((int)(bits >> 52) - 1023 + LATER_OCTAVES) * LATER_BUCKETS_OCTAVE;
    /* Bounds belong to the bucket below them: 1 is the end of the octave before. */
    bucket += (part > 0) + (part > 0x306fe0a31b715) + (part > 0x6a09e667f3bcd) +
              (part > 0xae89f995ad3ad); /* 2^0.25, 2^0.5, 2^0.75 */
    return bucket > 0 ? (unsigned)bucket : 0;
}

/* Returns where a bucket ends, in seconds, even for the last one. */
double later_bucket_end(unsigned bucket);

/* Adds `from` to `to`, bucket by bucket. */
void later_histogram_add(struct later_histogram *to, const struct later_histogram *from);

/* Returns how many durations there are. */
uint64_t later_histogram_count(const struct later_histogram *histogram);

/* Returns how many durations are at most `seconds`, a power of two from 2^-20 to 2^20. A bucket
 * ends there, so the number is exact. */
uint64_t later_histogram_within(const struct later_histogram *histogram, double seconds);

/* Returns the duration that a part of them, 0 < part <= 1, does not exceed (nearest rank); negative
 * if there are none. */
double later_histogram_quantile(const struct later_histogram *histogram, double part);

#endif
