/*
 * backlog.h: what a worker remembers of what was not free: a lock that another has, a limit
 * that is used up. It makes waiting cheap and orderly. Pure but for memory; times are later_clock()
 * seconds.
 *
 *   - While one is known not to be free Redis is not asked again.
 *   - Jobs that are returned get turns: so many at a time, so far apart, the first come first. Many
 *     of them come back spread over the time that they need in any case, instead of all at once.
 *
 * It is this worker's memory only. What it does not know costs time, never order or safety: each
 * job asks again when its turn has come.
 */
#ifndef LATERD_BACKLOG_H
#define LATERD_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKLOG_ROWS 4096  /* locks, permits and limits remembered */
#define BACKLOG_MOST 300.0 /* seconds until a job looks again, at most: a limit may be raised */

struct backlog;
struct backlog_row;

/* NULL: no memory. */
struct backlog *backlog_new(void);
/* NULL is fine. */
void backlog_free(struct backlog *backlog);

/* What is known of one, or NULL. kind keeps a lock and a limit of the same name apart. */
struct backlog_row *backlog_find(const struct backlog *backlog, char kind, const char *name);

/* The same, made if it is not there; NULL without memory or room. */
struct backlog_row *backlog_make(struct backlog *backlog, char kind, const char *name, double now);

/* Redis said no: it is not worth asking for `shut` seconds. Turns begin not before `first`, `count`
 * of them at a time, `per` seconds apart. Where first is shut, a limit that opens then, `count` of
 * those that are refused now come back right then, before any that have a later turn: they came
 * first. */
void backlog_close(struct backlog_row *row, double now, double shut, double first, uint32_t count,
                   double per);
/* Since when it has been closed without a break, in seconds. */
double backlog_closed_for(const struct backlog_row *row, double now);

/* Is there no need to ask? */
bool backlog_closed(const struct backlog_row *row, double now);

/* It is open again. Turns that were given stay. */
void backlog_open(struct backlog_row *row);

/* Seconds until the next turn; it is given away. */
double backlog_turn(struct backlog_row *row, double now);

#endif
