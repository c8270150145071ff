/* backlog.c: what is not free, and when a job's turn comes. */
#include "worker/backlog.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS      1024
#define LOOK_SECONDS 5.0 /* a job that waits for a lock looks no sooner */
#define LOOKS        10  /* jobs that look in a second, if many wait */

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
static void sweep(struct backlog *backlog, double now)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct backlog_row **link = &backlog->buckets[i], *row; (row = *link);) {
            if (row->shut > now || row->turn > now || row->waiting) {
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

bool backlog_each(const struct backlog *backlog,
                  void (*fn)(void *arg, const struct backlog_row *row), void *arg)
{
    bool any = false;

    for (size_t i = 0; backlog->rows && i < BUCKETS; i++) {
        for (const struct backlog_row *row = backlog->buckets[i]; row; row = row->next) {
            any = any || row->waiting;
            if (row->waiting)
                fn(arg, row);
        }
    }
    return any;
}

void backlog_close(struct backlog_row *row, double now, double shut, uint32_t count, double per)
{
    row->shut = now + shut;
    row->count = row->early = count;
    row->per = per;
    if (row->turn < now + shut + per) { /* the early ones have the first turn */
        row->turn = now + shut + per;
        row->given = 0;
    }
}

double backlog_turn(struct backlog_row *row, double now)
{
    if (row->early && row->shut - now < BACKLOG_MOST) {
        row->early--;
        return row->shut > now ? row->shut - now : 0;
    }
    /* Beyond the bound no turn is given. Those jobs look again, spread over the second half of that
     * time. */
    if (row->turn - now > BACKLOG_MOST)
        return BACKLOG_MOST / 2 + BACKLOG_MOST / 2 * (double)(row->beyond++ % 1024) / 1024;
    if (row->given >= row->count) {
        row->turn += row->per;
        row->given = 0;
    }
    row->given++;
    return row->turn > now ? row->turn - now : 0;
}

double backlog_look(struct backlog_row *row)
{
    double wait = (double)++row->waiting / LOOKS;

    return wait < LOOK_SECONDS ? LOOK_SECONDS : wait < BACKLOG_MOST ? wait : BACKLOG_MOST;
}
