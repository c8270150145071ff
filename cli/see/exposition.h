/*
 * exposition.h: writes metrics as Prometheus reads them: text format 0.0.4, or OpenMetrics 1.0.
 *
 *     exposition_family(&text, "laterd_jobs", GAUGE, NULL, "jobs of a queue by state");
 *     exposition_int(&text, "", 3, (const char *[]){ "queue", "mail", "state", "ready", NULL });
 *     exposition_end(&text);
 *
 * The two differ in counters' names, which OpenMetrics gives without `_total`, in units, and in the
 * last line. In the values of labels, `"` and `\` are escaped; they have no line ends.
 */
#ifndef LATER_CLI_EXPOSITION_H
#define LATER_CLI_EXPOSITION_H

#include "history/histogram.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum family_type { COUNTER, GAUGE, HISTOGRAM, INFO };

struct exposition {
    FILE *out;
    bool openmetrics;
    const char *name; /* name of the present family */
    enum family_type type;
};

/* Begins a family. name: without suffix (`_total`, `_info`). unit: "seconds", with which the name
 * must end, or NULL. Its samples follow. The strings are borrowed. */
void exposition_family(struct exposition *text, const char *name, enum family_type type,
                       const char *unit, const char *help);

/* Writes a sample. labels: name, value … NULL. */
void exposition_int(struct exposition *text, uint64_t value, const char *const *labels);
void exposition_real(struct exposition *text, double value, const char *const *labels);
/* Writes all samples of a histogram of seconds: 25 buckets from 2^-10 to 2^14, each twice the one
 * before, and +Inf. sum: in microseconds. */
void exposition_histogram(struct exposition *text, const struct later_histogram *histogram,
                          uint64_t sum, const char *const *labels);

/* Writes the last line. */
void exposition_end(struct exposition *text);

#endif
