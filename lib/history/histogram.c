/* histogram.c: durations in buckets. */
#include "history/histogram.h"

#include <math.h>

double later_bucket_end(unsigned bucket)
{
    return exp2((double)bucket / LATER_BUCKETS_OCTAVE - LATER_OCTAVES);
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
            return exp2(((double)i - 0.5) / LATER_BUCKETS_OCTAVE - LATER_OCTAVES);
    }
    return -1;
}
