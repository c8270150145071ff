/* histogram.c: durations in buckets. */
#include "history/histogram.h"

#include <math.h>

#define PER_OCTAVE 4
#define OCTAVES    20 /* below a second, and above */

unsigned later_bucket(double seconds)
{
    int exponent, bucket;
    double part;

    if (!(seconds > 0))
        return 0;
    if (seconds >= 0x1p20)
        return LATER_BUCKETS - 1;
    part = frexp(seconds, &exponent); /* 0.5 <= part < 1 */
    /* Bounds belong to the bucket below them: 0.5 is the end of the octave before. */
    bucket = (exponent - 1 + OCTAVES) * PER_OCTAVE;
    bucket += (part > 0.5) + (part > 0x1.306fe0a31b715p-1) + (part > 0x1.6a09e667f3bcdp-1) +
              (part > 0x1.ae89f995ad3adp-1); /* 2^-0.75, 2^-0.5, 2^-0.25 */
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
