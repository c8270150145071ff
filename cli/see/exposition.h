/*
 * exposition.h: metrics as Prometheus reads them: the text format 0.0.4, or OpenMetrics 1.0.
 *
 *     exposition_family(&text, "laterd_jobs", GAUGE, NULL, "jobs of a queue by state");
 *     exposition_int(&text, "", 3, (const char *[]){ "queue", "mail", "state", "ready", NULL });
 *     exposition_end(&text);
 *
 * They differ in a counter's name, which OpenMetrics gives without `_total`, in units, and in the
 * last line. Names and values of labels have no character that would have to be escaped: they are
 * names of queues, types and the like.
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
    const char *name; /* of the present family */
    enum family_type type;
};

/* Begins a family: its name without suffix (`_total`, `_info`), its unit ("seconds", with which the
 * name then ends) or NULL. What follows are its samples. Strings are borrowed. */
void exposition_family(struct exposition *text, const char *name, enum family_type type,
                       const char *unit, const char *help);

/* A sample; labels: name, value … NULL. */
void exposition_int(struct exposition *text, uint64_t value, const char *const *labels);
void exposition_real(struct exposition *text, double value, const char *const *labels);
/* All samples of a histogram of seconds: 13 buckets from 2^-10 to 2^14, each four times the one
 * before, and +Inf. sum: in microseconds. */
void exposition_histogram(struct exposition *text, const struct later_histogram *histogram,
                          uint64_t sum, const char *const *labels);

/* The last line. */
void exposition_end(struct exposition *text);

#endif
