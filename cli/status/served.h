/*
 * served.h: the daemons that have announced themselves (later:hosts), and who serves which queue.
 */
#ifndef LATER_CLI_SERVED_H
#define LATER_CLI_SERVED_H

#include "cli.h"

#define SERVED_GONE_AFTER 30.0 /* seconds that a daemon was not seen */

struct served;

/* Reads it. For the caller to served_free(); NULL with *err. */
struct served *served_read(struct cli *cli, struct later_error *err);
void served_free(struct served *served);

/* What the daemons say of themselves: id, JSON, id, JSON …; and when, by Redis's clock. Borrowed.
 */
const struct later_reply *served_hosts(const struct served *served);
double served_at(const struct served *served);

/* How many daemons that are alive serve a queue, or the queue of a shard; -1: served is NULL, so
 * that nobody knows. A `later work` does not announce itself. */
int served_by(const struct served *served, const char *queue);

/* How many of them serve it whether or not there is such a queue: by its name, not by a pattern. */
int served_by_name(const struct served *served, const char *queue);

/* Did a daemon that is alive say, some seconds ago, that it runs jobs of this queue, or of a shard
 * of it? */
bool served_runs(const struct served *served, const char *queue);

/* The name of a queue that some daemon serves and that may have been meant; NULL = none is near.
 * Borrowed. */
const char *served_nearest(const struct served *served, const char *queue);

/* Tells a person, who may have mistyped it, that something was done (`pushed to`) to a queue that
 * no daemon serves, and which one may have been meant; a program knows its queues. What fails here
 * is not told: it is done. */
void served_warn(struct cli *cli, const char *done, const char *queue);

#endif
