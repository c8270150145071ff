/*
 * put_off.h: jobs that have just entered a line look for themselves much later.
 *
 * A job goes into `delayed` before it is in its line, so it is due soon, in case it never gets
 * there. Once it is there others call it, and it is enough if a few look (backlog.h). Were the rest
 * not put off, each of a hundred thousand jobs of a group at its limit would be handed out within
 * five minutes, to be refused once more.
 *
 * The last BACKLOG_LAST that this worker knows of a line stay as they are.
 */
#ifndef LATERD_PUT_OFF_H
#define LATERD_PUT_OFF_H

#include "link/link.h"
#include "worker/backlog.h"

#include <stdbool.h>

#define PUT_OFF_MANY 100 /* in one call */
#define PUT_OFF_MOST 500 /* of more that enter before anything is sent, the rest look once */

struct put_off;

/* All are borrowed. NULL: no memory. */
struct put_off *put_off_new(struct link *link, const char *prefix, const struct backlog *backlog);
/* The link must be freed before. NULL is fine. */
void put_off_free(struct put_off *off);

/* A job (waiter, as line_name() names it) is in the line of this row since now, and due at `due`.
 * Returns whether there are enough for a call. */
bool put_off_enter(struct put_off *off, struct backlog_row *row, const char *waiter, double due);

/* Puts off all that can be; the caller flushes the link. present: now, by Redis's clock. Best
 * effort. */
void put_off_send(struct put_off *off, double now, double present);

#endif
