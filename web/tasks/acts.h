/*
 * acts.h: what was done here: who did what when, how far it has come, and how it ended. The latest
 * ACTS_KEPT of them.
 *
 * With a file they outlive later-web. Each has a row of it, ACT_ROW bytes: its JSON, spaces, a
 * newline; so the file is never longer than all rows, and whoever reads it needs nothing but jq.
 * A row is written as it begins, as it tells how far it is, and as it ends. What was under way when
 * later-web was killed is listed as such. A row that is not whole, as after a loss of power, is
 * left out. While later-web runs, the file is locked.
 */
#ifndef LATER_WEB_ACTS_H
#define LATER_WEB_ACTS_H

#include "later/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define ACTS_KEPT 500
#define ACT_ROW   8192
#define ACT_WHO   128 /* bytes of who did it, and a NUL */

struct acts;

/* file: made if it is not there, for nobody else to read; NULL = they are kept in memory only.
 * Returns NULL with *err. */
struct acts *acts_new(const char *file, struct later_error *err);
void acts_free(struct acts *acts); /* NULL is allowed */

struct act_news {
    const char *who, *command; /* copied, and cut where they are long */
    const char *path;          /* of the request: what it is, as "pause" */
    const char *queue;         /* NULL = none was named */
    bool many; /* it acts on many jobs, tells how far it has come, and can be stopped */
};

/* Notes that it begins at `now` (UNIX time), and returns its number, from 1 on. */
unsigned long acts_begin(struct acts *acts, const struct act_news *news, double now);

/* Takes a line of JSON that it has printed: how far it has come, if it begins with the member
 * "acted" or "searched", or a part of what was done. What is no object, and what is beyond 1,000
 * bytes, is not kept. */
void acts_tell(struct acts *acts, unsigned long number, const char *line, size_t len);

/* It has ended. rest: the members that follow its answers, `"status":0,"words":""}`. */
void acts_end(struct acts *acts, unsigned long number, const char *rest, double now);

/* Writes a list of them, the latest first:
 *
 *     {"number":7,"who":"user 0","command":"later kick …","path":"kick-matching","queue":null,
 *      "many":true,"began":1…,"ended":null,"progress":{"acted":200,"of":703},"answers":[…],
 *      "status":0,"words":"…"}
 *
 * status and words: only if it has ended. ended is null nevertheless if nobody saw that.
 * progress: null if nothing was told. */
void acts_write(const struct acts *acts, FILE *out);

#endif
