/*
 * whole.h: a queue with its shards.
 *
 * Who names `events` means the whole: the queue of that name and all `events/0` … that its plan
 * (shards.h) says. Who names `events/3` means that one. A queue without a plan is a whole of one
 * part, and that it has none costs one GET.
 */
#ifndef LATER_CLI_WHOLE_H
#define LATER_CLI_WHOLE_H

#include "cli.h"

struct whole {
    later_queue_name name; /* as it was given; what is printed */
    uint32_t shards;       /* into which ids are pushed now; 1 = the plain queue */
    struct later_plan plan;
    size_t count;
    struct later_keys parts[LATER_WHOLE_MAX]; /* the first one is the queue of that name */
};

/* Reads the plan. Some 70 KiB; plain data. Returns 0, or -1 with *err: LATER_E_USAGE for a bad
 * name. */
int whole_find(struct cli *cli, const char *queue, struct whole *whole, struct later_error *err);

/* All parts, in the order in which it is best to look for an id: where it is pushed now, where it
 * was pushed under former counts, the plain queue, and the others, into which somebody may have put
 * it by hand. Returns how many. */
size_t whole_parts(const struct whole *whole, const char *id,
                   const struct later_keys *parts[LATER_WHOLE_MAX]);

#endif
