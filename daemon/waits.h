/*
 * waits.h: what a worker remembers of gates that it found closed: a lock that another has, a limit
 * that is used up. It makes waiting cheap and orderly. Pure but for memory; times are later_clock()
 * seconds.
 *
 *   - While a gate is known to be closed Redis is not asked again.
 *   - Jobs that are returned get turns: so many at a time, so far apart, the first come first. Many
 *     of them come back spread over the time that they need in any case, instead of all at once.
 *
 * It is this worker's memory only. What it does not know costs time, never order or safety: each
 * job asks again when its turn has come.
 */
#ifndef LATERD_WAITS_H
#define LATERD_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITS_ROWS 4096  /* gates remembered */
#define WAITS_MOST 300.0 /* seconds until a job looks again, at most: a limit may be raised */

struct waits;
struct waits_row;

/* NULL: no memory. */
struct waits *waits_new(void);
/* NULL is fine. */
void waits_free(struct waits *waits);

/* What is known of a gate, or NULL. kind keeps a lock and a limit of the same name apart. */
struct waits_row *waits_find(const struct waits *waits, char kind, const char *name);

/* The same, made if it is not there; NULL without memory or room. */
struct waits_row *waits_make(struct waits *waits, char kind, const char *name, double now);

/* Redis said no: it is not worth asking for `shut` seconds. Turns begin not before `first`, `count`
 * of them at a time, `per` seconds apart. Where first is shut, a limit that opens then, `count` of
 * those that are refused now come back right then, before any that have a later turn: they came
 * first. */
void waits_close(struct waits_row *row, double now, double shut, double first, uint32_t count,
                 double per);
/* Since when it has been closed without a break, in seconds. */
double waits_closed_for(const struct waits_row *row, double now);

/* Is there no need to ask? */
bool waits_closed(const struct waits_row *row, double now);

/* It is open again. Turns that were given stay. */
void waits_open(struct waits_row *row);

/* Seconds until the next turn; it is given away. */
double waits_turn(struct waits_row *row, double now);

#endif
