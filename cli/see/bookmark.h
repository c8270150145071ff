/*
 * bookmark.h: a file that says how far the events of some queues have been read.
 *
 * A line for each queue or shard: its name, a space, and the number of the last end. A reader that
 * dies between what it printed and the bookmark prints that again.
 */
#ifndef LATER_CLI_BOOKMARK_H
#define LATER_CLI_BOOKMARK_H

#include "later/error.h"
#include "queue/shards.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bookmark_row {
    later_queue_name queue;
    uint64_t last;
};

/* Zero it first; then it has no file, and nothing is kept. */
struct bookmark {
    const char *path; /* borrowed; NULL: none */
    bool found;       /* the file was there */
    struct bookmark_row *rows;
    size_t count, room;
    bool old; /* the file is older than these */
};

/* Reads the file; one that is not there yet is made by bookmark_write(). Returns 0, or -1 with
 * *err: it cannot be read, or is something else. */
int bookmark_read(struct bookmark *bookmark, const char *path, struct later_error *err);

/* Finds the number of a queue; leaves *last as it is if there is none. */
void bookmark_find(const struct bookmark *bookmark, const char *queue, uint64_t *last);

/* Sets it. Those of other queues stay. Returns 0, or -1 with *err if there is no memory. */
int bookmark_set(struct bookmark *bookmark, const char *queue, uint64_t last,
                 struct later_error *err);

/* Writes the file, if something has changed: a new one in its place, so that it is whole at any
 * moment. Returns 0, or -1 with *err. */
int bookmark_write(struct bookmark *bookmark, struct later_error *err);

void bookmark_free(struct bookmark *bookmark);

#endif
