/*
 * backlog.h: what a worker remembers about things that were not free: a lock that another has, a
 * limit that is used up. Pure but for memory; times are later_clock() seconds.
 *
 *   - While something is known not to be free, Redis is not asked again.
 *   - For a limit: returned jobs get turns, first come first served: a few at a time, some time
 *     apart. So they come back at the pace that the limit allows, and not all at once.
 *   - For a lock, and for permits: how many wait, so that somebody looks after them (line.h).
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

struct backlog;

struct backlog_row {
    struct backlog_row *next; /* in its bucket */
    double shut;              /* until then asking is useless */
    char kind;                /* keeps a lock and a limit of the same name apart */
    size_t waiting;           /* for a lock or permits: how many wait, as far as is known */
    uint32_t max;
    /* For a limit. */
    double turn, per;      /* the turn that is being given */
    uint32_t given, count; /* how many have this turn, and may have it */
    uint32_t early;        /* how many may come back when it opens */
    uint32_t beyond;       /* how many got no turn */
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

/* Calls fn for each thing with jobs waiting. Returns whether there is any. */
bool backlog_each(const struct backlog *waits, void (*fn)(void *arg, const struct backlog_row *row),
                  void *arg);

/* A limit opens after `shut` seconds. Of the jobs that are refused now, `count` come back right
 * then, before all that have a later turn, since they came first. The others get turns: `count` at
 * a time, `per` seconds apart. */
void backlog_close(struct backlog_row *row, double now, double shut, uint32_t count, double per);

/* Gives a job its turn at a limit; returns the seconds until then. */
double backlog_turn(struct backlog_row *row, double now);

/* The same for a lock or permits. In most cases the job is called before that; so only few jobs
 * look soon, and if many wait, each looks rarely. */
double backlog_look(struct backlog_row *row);

#endif
