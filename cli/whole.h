/*
 * whole.h: a queue with its shards.
 *
 * The name `events` means the whole queue: the one of that name and all of `events/0` … that its
 * plan (shards.h) has. The name `events/3` means that shard only. A queue without a plan is a whole
 * of one part; one GET finds that out.
 */
#ifndef LATER_CLI_WHOLE_H
#define LATER_CLI_WHOLE_H

#include "cli.h"

struct whole {
    later_queue_name name; /* the name as it was given and is printed */
    struct later_plan plan;
    size_t count;
    struct later_keys parts[LATER_WHOLE_MAX]; /* the first one is the plain queue */
};

/* Reads the plan. *whole is about 70 KiB of plain data. Returns 0, or -1 with *err: LATER_E_USAGE
 * for a bad name. */
int whole_find(struct cli *cli, const char *queue, struct whole *whole, struct later_error *err);

/* Lists all parts in the order in which an id is best looked for: where it would be pushed now,
 * where former plans put it, the plain queue, and the rest, where somebody may have put it by hand.
 * Returns how many. */
size_t whole_parts(const struct whole *whole, const char *id,
                   const struct later_keys *parts[LATER_WHOLE_MAX]);

#endif
