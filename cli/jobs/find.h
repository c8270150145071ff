/*
 * find.h: the queue in which a job is, for commands that are given only its id.
 *
 *     finder_begin(&finder, cli, FIND_DONE, &err)
 *     found = finder_look(&finder, id, queue, &err);      for each id
 *     finder_end(&finder);
 *
 * If -q names the queue, nothing is asked. Otherwise each queue and shard that Redis knows is
 * asked for the id, many in one round trip. Queues that this user may not read are left out.
 */
#ifndef LATER_CLI_FIND_H
#define LATER_CLI_FIND_H

#include "queue_list.h"

/* What counts besides a job that is in its queue. */
enum find {
    FIND_JOBS = 0,
    FIND_DONE = 1,   /* a done job that is kept */
    FIND_TAKEN = 2,  /* if there is no job: an id that stays taken after its job */
    FIND_RESULT = 4, /* if there is no job: a result that one has left */
};

struct finder {
    struct cli *cli;
    unsigned find;          /* of enum find */
    struct queue_list list; /* owned; empty if -q names the queue */
};

/* Reads the names of the queues. Returns 0, or -1 with *err (LATER_E_USAGE if -q is no name).
 * finder_end() is due in both cases. */
int finder_begin(struct finder *finder, struct cli *cli, unsigned find, struct later_error *err);
void finder_end(struct finder *finder);

/* Finds the queue of an id: its whole queue, not its shard. Returns 1; 0 if it is nowhere, and then
 * queue is ""; or -1 with *err, LATER_E_USAGE if several queues have it. */
int finder_look(struct finder *finder, const char *id, later_queue_name queue,
                struct later_error *err);

/* Returns " in queue Q" or " in any queue", for a message; the text is in `text`. */
const char *find_where(const struct cli *cli, char text[LATER_QUEUE_MAX + 16]);

#endif
