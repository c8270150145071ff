/*
 * backlog.h: what a worker remembers about things that were not free: a lock that another has, a
 * limit that is used up. Pure but for memory; times are later_clock() seconds.
 *
 *   - While something is known not to be free, Redis is not asked again: for some milliseconds.
 *   - How many wait for it, so that somebody looks after them (line.h), and when to look next: when
 *     a limit opens, and each second.
 *   - When a job that waits looks by itself, if nobody has called it.
 *
 * Each worker remembers only for itself. What it does not know costs time but no safety, since each
 * job asks again when its turn has come.
 */
#ifndef LATERD_BACKLOG_H
#define LATERD_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKLOG_ROWS 4096  /* things remembered */
#define BACKLOG_MOST 300.0 /* seconds until a job looks again, at most: a limit may be raised */
/* The same if it is known to be in the line, where others call it: four days. */
#define BACKLOG_LONG 345600.0
#define BACKLOG_LAST 8    /* of those in the line, so many look */
#define BACKLOG_SOON 60.0 /* in so many seconds at most: then its laterd knows of the line */

struct backlog;

struct backlog_row {
    struct backlog_row *next; /* in its bucket */
    double shut;              /* until then asking is useless */
    char kind;                /* keeps a lock and a limit of the same name apart */
    size_t waiting;           /* how many wait, as far as is known */
    double look;              /* when to look after them, if any wait */
    double opens;             /* when a limit opens */
    uint32_t max;
    double per; /* of a limit; else 0 */
    bool sliding;
    uint32_t spread;  /* how many were told to look at different times */
    uint32_t entered; /* how many have entered its line from here (put_off.h) */
    char name[];
};

/* NULL: no memory. */
struct backlog *backlog_new(void);
/* NULL is fine. */
void backlog_free(struct backlog *waits);

/* Finds what is known of a thing, or NULL. */
struct backlog_row *backlog_find(const struct backlog *waits, char kind, const char *name);

/* The same, made if it is not there; NULL without memory or room. */
struct backlog_row *backlog_make(struct backlog *waits, char kind, const char *name, double now);

/* Calls fn for each thing that jobs wait for and that is to be looked at by `now`; fn may change
 * the row. Returns when the next is to be looked at; 0: nobody waits. */
double backlog_each(const struct backlog *waits, double now,
                    void (*fn)(void *arg, struct backlog_row *row), void *arg);

/* One more job waits: returns the seconds after which it looks by itself. In most cases it is
 * called before that. So a job that waits for a limit looks a second after its turn; of those that
 * wait for a lock or for permits only few look soon, and if many wait, each looks rarely.
 * behind: it has come by itself from its place in the line, where so many came after it; -1: it may
 * not be there. One that is there need not be afraid that nobody knows of it: it is enough if a few
 * look. The last ones do, since they wait until there is no other, and of the others one in a
 * second. */
double backlog_wait(struct backlog_row *row, double now, int64_t behind);

/* The same for a job that is known to be in the line, with BACKLOG_LAST others behind it, if it
 * would look sooner only because it might not be there. 0: it looks when it was told. */
double backlog_later(struct backlog_row *row, double now);

#endif
