/*
 * snapshot.h: the queues as they were last seen, as lines of text. It says which queues should be
 * looked at next, and what has changed since the last output. Pure.
 *
 * If there are many queues, they are not all looked at each time. Queues that changed lately come
 * up eight times as often as the others, but every queue comes up. New ones come first.
 */
#ifndef LATER_WEB_SNAPSHOT_H
#define LATER_WEB_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct snapshot;

/* Returns NULL without memory. */
struct snapshot *snapshot_new(void);
void snapshot_free(struct snapshot *snapshot); /* NULL is allowed */

size_t snapshot_count(const struct snapshot *snapshot);

/* Between these two calls, each existing queue is named. Queues that are not named are gone. */
void snapshot_list(struct snapshot *snapshot);
void snapshot_name(struct snapshot *snapshot, const char *name, size_t len);
void snapshot_listed(struct snapshot *snapshot);

/* Takes a line of `later size --json`, from a look at a queue at `now` (seconds). The queue counts
 * as named. Returns false if it is not such a line. */
bool snapshot_see(struct snapshot *snapshot, const char *line, size_t len, double now);

/* Chooses up to `max` queues to look at next, and moves them behind the others. Returns how many.
 * The names are borrowed until the next list. */
size_t snapshot_due(struct snapshot *snapshot, double now, const char **names, size_t max);

/* Something was done to this queue: it comes before all others, for as many looks as it takes to
 * see that. */
void snapshot_hurry(struct snapshot *snapshot, const char *name);

/* Writes `"queues":[…]`. With `all` these are all queues, otherwise those that changed since the
 * last snapshot_told(). Each line begins with "age": how many seconds ago it was seen. Without
 * `all`,
 * `,"gone":["…"]` follows, with the names of queues that are gone. */
void snapshot_write(const struct snapshot *snapshot, FILE *out, bool all, double now);

/* Notes that all, or all changes, have been sent. */
void snapshot_told(struct snapshot *snapshot);

#endif
