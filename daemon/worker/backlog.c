/* backlog.c: what is not free, and when to look at it. */
#include "worker/backlog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS      1024
#define LOOK_SECONDS 5.0  /* a job that waits for a lock looks no sooner */
#define LOOKS        10   /* jobs that look in a second, if many wait */
#define EACH         1.5  /* seconds between two looks of those that are in the line */
#define EACH_NEW     10.0 /* the same of those that were put off: as they came it was shorter */
#define LATE_SECONDS 1.0  /* after its turn at a limit a job looks by itself */

struct backlog {
    struct backlog_row *buckets[BUCKETS];
    size_t rows;
};

struct backlog *backlog_new(void)
{
    return calloc(1, sizeof(struct backlog));
}

static void row_free(struct backlog *backlog, struct backlog_row *row)
{
    free(row);
    backlog->rows--;
}

void backlog_free(struct backlog *backlog)
{
    struct backlog_row *next;

    for (size_t i = 0; backlog && i < BUCKETS; i++) {
        for (struct backlog_row *row = backlog->buckets[i]; row; row = next) {
            next = row->next;
            row_free(backlog, row);
        }
    }
    free(backlog);
}

/* FNV-1a (Fowler, Noll, Vo). */
static size_t bucket_of(char kind, const char *name)
{
    uint32_t hash = 2166136261U ^ (unsigned char)kind;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash % BUCKETS;
}

struct backlog_row *backlog_find(const struct backlog *backlog, char kind, const char *name)
{
    struct backlog_row *row = backlog->rows ? backlog->buckets[bucket_of(kind, name)] : NULL;

    while (row && (row->kind != kind || strcmp(row->name, name) != 0))
        row = row->next;
    return row;
}

/* Forgets what is free and has nobody waiting. */
static void backlog_sweep(struct backlog *backlog, double now)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct backlog_row **link = &backlog->buckets[i], *row; (row = *link);) {
            if (row->shut > now || row->waiting) {
                link = &row->next;
                continue;
            }
            *link = row->next;
            row_free(backlog, row);
        }
    }
}

struct backlog_row *backlog_make(struct backlog *backlog, char kind, const char *name, double now)
{
    struct backlog_row *row = backlog_find(backlog, kind, name);
    size_t at = bucket_of(kind, name), len = strlen(name);

    if (row)
        return row;
    if (backlog->rows >= BACKLOG_ROWS)
        backlog_sweep(backlog, now);
    row = backlog->rows < BACKLOG_ROWS ? calloc(1, sizeof *row + len + 1) : NULL;
    if (!row)
        return NULL;
    memcpy(row->name, name, len + 1);
    row->kind = kind;
    row->max = 1;
    row->next = backlog->buckets[at];
    backlog->buckets[at] = row;
    backlog->rows++;
    return row;
}

double backlog_each(const struct backlog *backlog, double now,
                    void (*fn)(void *arg, struct backlog_row *row), void *arg)
{
    double next = 0;

    for (size_t i = 0; backlog->rows && i < BUCKETS; i++) {
        for (struct backlog_row *row = backlog->buckets[i]; row; row = row->next) {
            if (row->waiting && row->look <= now)
                fn(arg, row);
            if (row->waiting && (next == 0 || row->look < next))
                next = row->look;
        }
    }
    return next;
}

/* The n-th of those that would look at the same time looks between `least` and `most` seconds, so
 * that they do not come back together. */
static double backlog_spread(struct backlog_row *row, double least, double most)
{
    return least + (most - least) * (double)(row->spread++ * 619 % 1024) / 1024;
}

/* Some of many look soon from the first moment on: whoever knows of the line may be gone. */
static double backlog_in_line(struct backlog_row *row, int64_t behind, double each)
{
    double most = fmin(2 * each * (double)row->waiting, BACKLOG_LONG);

    most = behind < BACKLOG_LAST ? fmin(most, BACKLOG_SOON) : most;
    return fmax(backlog_spread(row, 0, most), LOOK_SECONDS);
}

double backlog_later(struct backlog_row *row, double now)
{
    double turn = (double)row->waiting / row->max * row->per;

    if (row->per > 0 && fmax(row->opens - now, 0) + turn <= BACKLOG_MOST)
        return 0;
    return backlog_in_line(row, BACKLOG_LAST, EACH_NEW);
}

double backlog_wait(struct backlog_row *row, double now, int64_t behind)
{
    double turns = floor((double)row->waiting++ / row->max);
    double wait = row->per > 0 ? fmax(row->opens - now, 0) + turns * row->per + LATE_SECONDS
                               : fmax((double)row->waiting / LOOKS, LOOK_SECONDS);

    if (behind >= 0 && (row->per == 0 || wait > BACKLOG_MOST))
        return backlog_in_line(row, behind, EACH);
    return wait <= BACKLOG_MOST ? wait : backlog_spread(row, BACKLOG_MOST / 3, BACKLOG_MOST);
}
