/* overlap.c: finds more jobs at once, or within a time, than allowed. */
#include "overlap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind {
    const struct run **runs; /* by start */
    size_t count;
};

static int by_start(const void *a, const void *b)
{
    const struct run *const *left = a, *const *right = b;

    return ((*left)->start > (*right)->start) - ((*left)->start < (*right)->start);
}

static bool ends_with(const char *id, const char *suffix)
{
    size_t len = strlen(id), tail = strlen(suffix);

    return len > tail && strcmp(id + len - tail, suffix) == 0;
}

/* Without memory a test may end. */
static struct kind select_kind(const struct tally *tally, const char *suffix)
{
    struct kind kind = { .runs = calloc(tally->run_count + 1, sizeof *kind.runs) };

    if (!kind.runs)
        abort();
    for (size_t i = 0; i < tally->run_count; i++) {
        if (ends_with(tally->runs[i].id, suffix))
            kind.runs[kind.count++] = &tally->runs[i];
    }
    qsort(kind.runs, kind.count, sizeof *kind.runs, by_start);
    return kind;
}

static bool faultless(const struct tally *tally, double from, double to)
{
    for (size_t i = 0; i < tally->fault_count; i++) {
        if (tally->faults[i].start <= to && tally->faults[i].end >= from)
            return false;
    }
    return true;
}

static void tell(const struct run *first, const struct run *last, const char *what)
{
    printf("# %s: %s from %.3f to %.3f, and %s from %.3f\n", what, first->id, first->start,
           first->end, last->id, last->start);
}

size_t overlap_at_once(const struct tally *tally, const char *suffix, size_t most)
{
    struct kind kind = select_kind(tally, suffix);
    size_t found = 0;

    for (size_t i = 0; i < kind.count; i++) {
        const struct run *first = NULL;
        size_t beside = 0;

        for (size_t k = 0; k < i; k++) {
            if (kind.runs[k]->end <= kind.runs[i]->start)
                continue;
            first = first ? first : kind.runs[k];
            beside++;
        }
        if (beside >= most && faultless(tally, first->start, kind.runs[i]->start)) {
            tell(first, kind.runs[i], "too many at once");
            found++;
        }
    }
    free(kind.runs);
    return found;
}

size_t overlap_too_close(const struct tally *tally, const char *suffix, size_t most, double seconds)
{
    struct kind kind = select_kind(tally, suffix);
    size_t found = 0;

    for (size_t i = most; i < kind.count; i++) {
        const struct run *first = kind.runs[i - most], *last = kind.runs[i];

        if (last->start - first->start >= seconds || !faultless(tally, first->start, last->start))
            continue;
        tell(first, last, "too many within a time");
        found++;
    }
    free(kind.runs);
    return found;
}
