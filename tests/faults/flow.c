/* flow.c: how steadily jobs end. */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int in_order(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

static void add(struct flow *flow, double end)
{
    if ((flow->count & (flow->count - 1)) == 0) {
        flow->ends = realloc(flow->ends, (flow->count ? flow->count * 2 : 1) * sizeof end);
        if (!flow->ends)
            abort();
    }
    flow->ends[flow->count++] = end;
}

void flow_read(struct flow *flow, const char *trace, const char *prefix)
{
    FILE *file = fopen(trace, "re");
    size_t len = strlen(prefix);
    char line[400], id[64], result[8];
    double end;

    *flow = (struct flow){ 0 };
    if (!file)
        abort();
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "E %63s %*u %*s %*f %lf %7s", id, &end, result) == 3 &&
            strncmp(id, prefix, len) == 0 && id[len] == '-' && strcmp(result, "ok") == 0)
            add(flow, end);
    }
    fclose(file);
    if (flow->count)
        qsort(flow->ends, flow->count, sizeof *flow->ends, in_order);
}

void flow_free(struct flow *flow)
{
    free(flow->ends);
    flow->ends = NULL;
}

size_t flow_ended(const struct flow *flow, double from, double to)
{
    size_t count = 0;

    for (size_t i = 0; i < flow->count; i++)
        count += flow->ends[i] >= from && flow->ends[i] < to;
    return count;
}

long flow_mark(const char *pushed)
{
    struct stat info;

    if (stat(pushed, &info) < 0)
        abort();
    return (long)info.st_size;
}

size_t flow_pushed(const char *pushed, const char *prefix, long from, long to)
{
    FILE *file = fopen(pushed, "re");
    size_t len = strlen(prefix), count = 0;
    char line[400], id[64];

    if (!file || fseek(file, from, SEEK_SET) < 0)
        abort();
    while (ftell(file) < to && fgets(line, sizeof line, file))
        count +=
            sscanf(line, "ok %63s", id) == 1 && strncmp(id, prefix, len) == 0 && id[len] == '-';
    fclose(file);
    return count;
}

double flow_gap(const struct flow *flow, double from, double to)
{
    double last = from, gap = 0;

    for (size_t i = 0; i < flow->count && last < to; i++) {
        double end = flow->ends[i] < to ? flow->ends[i] : to;

        if (end < from)
            continue;
        gap = end - last > gap ? end - last : gap;
        last = end;
    }
    return to - last > gap ? to - last : gap;
}
