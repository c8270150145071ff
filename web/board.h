/*
 * board.h: the queues as they were seen last, line by line; whose turn it is to be looked at again,
 * and what has changed since that was told. Pure.
 *
 * Where there are many queues they are not all looked at each time. Those that have changed lately
 * come round eight times as often as the others; so each comes round.
 */
#ifndef LATER_WEB_BOARD_H
#define LATER_WEB_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct board;

/* NULL without memory. */
struct board *board_new(void);
void board_free(struct board *board); /* NULL is fine */

size_t board_count(const struct board *board);

/* A list of all queues comes: between these two each is named; those that are not are gone. */
void board_list(struct board *board);
void board_name(struct board *board, const char *name, size_t len);
void board_listed(struct board *board);

/* A queue was looked at `now` (seconds): a line of `later size --json`. It counts as named. Returns
 * false where it is no such line. */
bool board_see(struct board *board, const char *line, size_t len, double now);

/* Up to `max` queues whose turn it is; they are not due again before the others. Returns how many.
 * The names are borrowed until the next list. */
size_t board_due(struct board *board, double now, const char **names, size_t max);

/* This one is due before all others. */
void board_hurry(struct board *board, const char *name);

/* Writes `"queues":[…]`: all, or those that have changed since the last board_told(), each a line
 * with how many seconds ago it was seen in front, as "age"; and for the changes `,"gone":["…"]`
 * with the names of those that are gone. */
void board_write(const struct board *board, FILE *out, bool all, double now);

/* All is written, or its changes are. */
void board_told(struct board *board);

#endif
