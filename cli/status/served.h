/*
 * served.h: the daemons that have announced themselves (later:hosts), and who serves which queue.
 */
#ifndef LATER_CLI_SERVED_H
#define LATER_CLI_SERVED_H

#include "cli.h"

#define SERVED_GONE_AFTER 30.0 /* seconds after which a daemon that was not seen counts as gone */

struct served;

/* Reads later:hosts. The caller frees the result with served_free(). NULL with *err. */
struct served *served_read(struct cli *cli, struct later_error *err);
void served_free(struct served *served);

/* served_hosts(): what the daemons say of themselves: id, JSON, id, JSON … served_at(): when that
 * was, by Redis's clock. Borrowed. */
const struct later_reply *served_hosts(const struct served *served);
double served_at(const struct served *served);

/* Returns how many daemons that are alive serve a queue; a shard counts as its queue. Returns -1 if
 * served is NULL, since nothing is known. A `later work` does not announce itself. */
int served_by(const struct served *served, const char *queue);

/* Returns how many of them serve the queue by name, and not by a pattern, so that it need not
 * exist. */
int served_by_name(const struct served *served, const char *queue);

/* Did a daemon that is alive report, within the last seconds, that it runs jobs of this queue or of
 * one of its shards? */
bool served_runs(const struct served *served, const char *queue);

/* Returns the name of a served queue that was probably meant, or NULL if none is near. Borrowed. */
const char *served_nearest(const struct served *served, const char *queue);

/* Warns a person that something was done (`pushed to`) with a queue that no daemon serves, since
 * the name may be mistyped, and suggests another. Programs are not warned. A failure here is
 * ignored, since the command itself has succeeded. */
void served_warn(struct cli *cli, const char *done, const char *queue);

#endif
