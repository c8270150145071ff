/* backlog.c: what was not free, and whose turn comes when. */
#include "worker/backlog.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct backlog_row {
    struct backlog_row *next; /* in its bucket */
    double since;             /* closed since; 0 = open */
    double shut;              /* not worth asking until */
    double turn, per;         /* the turn that is being given */
    uint32_t given, count;    /* how many have it, and may */
    uint32_t early;           /* how many may come back as soon as it opens */
    uint32_t beyond;          /* how many were sent away without one */
    char kind;
    char name[];
};

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

/* Forgets what is open and has given no turn that is still to come. */
static void sweep(struct backlog *backlog, double now)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct backlog_row **link = &backlog->buckets[i], *row; (row = *link);) {
            if (row->shut > now || row->turn > now) {
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
        sweep(backlog, now);
    row = backlog->rows < BACKLOG_ROWS ? calloc(1, sizeof *row + len + 1) : NULL;
    if (!row)
        return NULL;
    memcpy(row->name, name, len + 1);
    row->kind = kind;
    row->count = 1;
    row->next = backlog->buckets[at];
    backlog->buckets[at] = row;
    backlog->rows++;
    return row;
}

void backlog_close(struct backlog_row *row, double now, double shut, double first, uint32_t count,
                   double per)
{
    row->shut = now + shut;
    row->count = count;
    row->per = per;
    if (row->since <= 0)
        row->since = now;
    row->early = first <= shut ? count : 0;
    if (row->early)
        first += per; /* those that are early use the first turn */
    if (row->turn < now + first) {
        row->turn = now + first;
        row->given = 0;
    }
}

double backlog_closed_for(const struct backlog_row *row, double now)
{
    return row && row->since > 0 ? now - row->since : 0;
}

bool backlog_closed(const struct backlog_row *row, double now)
{
    return row && now < row->shut;
}

void backlog_open(struct backlog_row *row)
{
    row->since = row->shut = 0;
}

double backlog_turn(struct backlog_row *row, double now)
{
    if (row->early && row->shut - now < BACKLOG_MOST) {
        row->early--;
        return row->shut > now ? row->shut - now : 0;
    }
    /* Beyond the bound no turn is given: they look again, spread over its second half. */
    if (row->turn - now > BACKLOG_MOST)
        return BACKLOG_MOST / 2 + BACKLOG_MOST / 2 * (double)(row->beyond++ % 1024) / 1024;
    if (row->given >= row->count) {
        row->turn += row->per;
        row->given = 0;
    }
    row->given++;
    return row->turn > now ? row->turn - now : 0;
}
