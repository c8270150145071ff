/*
 * notices.h: which troubles have begun and which have ended, and what of that is still to be told.
 * Pure: the caller says what time it is.
 *
 * An answer to `later status --trouble` is given line by line, then its end:
 *
 *     notices_line(notices, line, len);            for each trouble
 *     notices_end(notices, NULL);
 *
 * A trouble begins when it is first seen, and has ended when it is missing in two answers, one
 * after the other. That Redis cannot be asked, twice, is a trouble, too: `redis_away`. Meanwhile
 * nothing else ends. What is told and not taken is tried again, 12 times within some 19 minutes;
 * then it is given up. What comes back before its end was told has not ended. Up to 1,001 troubles
 * are known. An answer names the worst 1,000, so what is missing in such a one has ended if it was
 * worse than one that is still named.
 */
#ifndef LATER_WEB_NOTICES_H
#define LATER_WEB_NOTICES_H

#include <stdbool.h>
#include <stddef.h>

#define NOTICES_MAX   1000 /* as many as the command names */
#define NOTICES_TRIES 12

struct notices;

/* Returns NULL without memory. */
struct notices *notices_new(void);
void notices_free(struct notices *notices); /* NULL is allowed */

/* One line of the answer: a JSON object, whose members rule, severity, queue, host and type come
 * first and say which trouble it is. */
void notices_line(struct notices *notices, const char *line, size_t len);

/* The end of an answer. away: a JSON string, why Redis cannot be asked; NULL = all lines have
 * come. */
void notices_end(struct notices *notices, const char *away);

/* Returns what is to be told next: the line with the members `event`, "begin" or "end", and `id`,
 * which a trouble keeps, before the others; at the end its `text` begins with "over: ". malloc'ed;
 * NULL: nothing now. Until notices_told() is called, nothing else is. */
char *notices_next(struct notices *notices, double now);

/* What notices_next() returned was taken, or not. Returns false if it is given up. */
bool notices_told(struct notices *notices, bool taken, double now);

#endif
