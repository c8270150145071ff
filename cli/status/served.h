/*
 * served.h: the daemons that have announced themselves (later:hosts), and who serves which queue.
 */
#ifndef LATER_CLI_SERVED_H
#define LATER_CLI_SERVED_H

#include "cli.h"

#include <jansson.h>

/* A daemon that was not seen for so many seconds counts as gone, or for so many times what is
 * between two signs of its life, if that is longer. */
#define SERVED_GONE_AFTER 30.0
#define SERVED_GONE_TIMES 3

struct served;

/* Reads later:hosts. The caller frees the result with served_free(). NULL with *err. */
struct served *served_read(struct cli *cli, struct later_error *err);
void served_free(struct served *served);

/* served_count(): how many daemons there are. served_host(): what one of them says of itself, an
 * object; NULL if that cannot be read. served_id(): its id. Both are borrowed. served_at(): when
 * that was read, by Redis's clock. */
size_t served_count(const struct served *served);
json_t *served_host(const struct served *served, size_t i);
const char *served_id(const struct served *served, size_t i);
double served_at(const struct served *served);

/* Is a daemon that says this (later:hosts) gone at `now`? */
bool served_is_gone(const json_t *host, double now);
/* The same as served_host(); NULL also if it is gone. */
json_t *served_alive(const struct served *served, size_t i);
/* How many are alive. */
int served_count_alive(const struct served *served);
/* Is one of them on the host of this name? */
bool served_is_on(const struct served *served, const char *name);

/* Does this daemon say that it serves a queue, by name or by a pattern? A shard counts as its
 * queue.
 */
bool served_serves(const json_t *host, const char *queue);

/* Adds each number of one object to that of the same name in the other. */
void served_add_up(json_t *sums, json_t *counts);

/* Returns how many daemons that are alive serve a queue; a shard counts as its queue. Returns -1 if
 * served is NULL, since nothing is known. */
int served_by(const struct served *served, const char *queue);

/* Returns how many of them serve the queue by name, and not by a pattern, so that it need not
 * exist. */
int served_by_name(const struct served *served, const char *queue);

/* served_running(): how many jobs of a queue the daemons that are alive run, as they reported
 * within the last seconds. served_runs(): are there any, of the queue or of one of its shards? */
uint64_t served_running(const struct served *served, const char *queue);
bool served_runs(const struct served *served, const char *queue);

/* Does daemon number i, if it is alive, say that it runs a job of this type? It names some. */
bool served_runs_type(const struct served *served, size_t i, const char *type);

/* Returns the name of a served queue that was probably meant, or NULL if none is near. Borrowed. */
const char *served_nearest(const struct served *served, const char *queue);

/* Warns a person that something was done (`pushed to`) with a queue that no daemon serves, since
 * the name may be mistyped, and suggests another. Programs are not warned. A failure here is
 * ignored, since the command itself has succeeded. */
void served_warn(struct cli *cli, const char *done, const char *queue);

/* Finds a lock, permit or limit (kind) in the configuration of the daemons that are alive (`needs`,
 * daemon/queues/announce_needs.h): the entry for this name, or for all names that begin so; of
 * several that which says most, then the first. Borrowed; NULL: none says so. */
const json_t *served_needs(const struct served *served, const char *kind, const char *name);

#endif
