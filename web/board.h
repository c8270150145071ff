/*
 * board.h: the queues as they were last seen, as lines of text. It says which queues should be
 * looked at next, and what has changed since the last output. Pure.
 *
 * If there are many queues, they are not all looked at each time. Queues that changed lately come
 * up eight times as often as the others, but every queue comes up.
 */
#ifndef LATER_WEB_BOARD_H
#define LATER_WEB_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct board;

/* Returns NULL without memory. */
struct board *board_new(void);
void board_free(struct board *board); /* NULL is allowed */

size_t board_count(const struct board *board);

/* Between these two calls, each existing queue is named. Queues that are not named are gone. */
void board_list(struct board *board);
void board_name(struct board *board, const char *name, size_t len);
void board_listed(struct board *board);

/* Takes a line of `later size --json`, from a look at a queue at `now` (seconds). The queue counts
 * as named. Returns false if it is not such a line. */
bool board_see(struct board *board, const char *line, size_t len, double now);

/* Chooses up to `max` queues to look at next, and moves them behind the others. Returns how many.
 * The names are borrowed until the next list. */
size_t board_due(struct board *board, double now, const char **names, size_t max);

/* Moves this queue before all others. */
void board_hurry(struct board *board, const char *name);

/* Writes `"queues":[…]`. With `all` these are all queues, otherwise those that changed since the
 * last board_told(). Each line begins with "age": how many seconds ago it was seen. Without `all`,
 * `,"gone":["…"]` follows, with the names of queues that are gone. */
void board_write(const struct board *board, FILE *out, bool all, double now);

/* Notes that all, or all changes, have been sent. */
void board_told(struct board *board);

#endif
