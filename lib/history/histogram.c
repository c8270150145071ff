/* histogram.c: durations in buckets. */
#include "history/histogram.h"

#include <math.h>
#include <string.h>

#define PER_OCTAVE 4
#define OCTAVES    20 /* below a second, and above */

/* By the bits of the double (IEEE 754), since it is called for each job. */
unsigned later_bucket(double seconds)
{
    uint64_t bits, part;
    int bucket;

    if (!(seconds > 0))
        return 0;
    if (seconds >= 0x1p20)
        return LATER_BUCKETS - 1;
    memcpy(&bits, &seconds, sizeof bits);
    part = bits &
           0xfffffffffffff; /* of what is 1 or more, and less than 2: what is behind the point */
    bucket = ((int)(bits >> 52) - 1023 + OCTAVES) * PER_OCTAVE;
    /* Bounds belong to the bucket below them: 1 is the end of the octave before. */
    bucket += (part > 0) + (part > 0x306fe0a31b715) + (part > 0x6a09e667f3bcd) +
              (part > 0xae89f995ad3ad); /* 2^0.25, 2^0.5, 2^0.75 */
    return bucket > 0 ? (unsigned)bucket : 0;
}

double later_bucket_end(unsigned bucket)
{
    return exp2((double)bucket / PER_OCTAVE - OCTAVES);
}

void later_histogram_add(struct later_histogram *to, const struct later_histogram *from)
{
    for (unsigned i = 0; i < LATER_BUCKETS; i++)
        to->count[i] += from->count[i];
}

uint64_t later_histogram_count(const struct later_histogram *histogram)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < LATER_BUCKETS; i++)
        count += histogram->count[i];
    return count;
}

uint64_t later_histogram_within(const struct later_histogram *histogram, double seconds)
{
    unsigned last = later_bucket(seconds);
    uint64_t count = 0;

    for (unsigned i = 0; i <= last; i++)
        count += histogram->count[i];
    return count;
}

double later_histogram_quantile(const struct later_histogram *histogram, double part)
{
    uint64_t count = later_histogram_count(histogram), until = 0;
    double rank = ceil(part * (double)count);

    for (unsigned i = 0; count > 0 && i < LATER_BUCKETS; i++) {
        until += histogram->count[i];
        if (histogram->count[i] > 0 && (double)until >= rank)
            return exp2(((double)i - 0.5) / PER_OCTAVE - OCTAVES);
    }
    return -1;
}
