/*
 * each.h: one verb for jobs that are named by their ids, one after the other: kick, bury, cancel.
 *
 * A job is looked for wherever its id can be: in the queue, in its shards, in a former one.
 */
#ifndef LATER_CLI_EACH_H
#define LATER_CLI_EACH_H

#include "cli.h"
#include "redis/key.h"

#define EACH_STATE 16 /* bytes of a state's name */

struct each_verb {
    const char *heading; /* KICKED */
    const char *done;    /* kicked */
    const char *freed;   /* instead, where the job had ended and only its id was taken; or NULL */
    const char *none;    /* before the id of one that is nowhere: "no dead or delayed job" */
    /* Does it in one part. was gets the state that the job had, "" where it is not there. Returns
     * 0, or -1 with *err. */
    int (*fn)(struct cli *cli, const struct later_keys *keys, const char *id, const char *error,
              char was[EACH_STATE], struct later_error *err);
};

/* Does it to the ids of the command line, in the queue of --queue, and tells of each; error goes to
 * fn. Returns LATER_OK; LATER_E_NONE where one was nowhere, which was said; or -1 with *err. */
int each_run(struct cli *cli, const struct each_verb *verb, const char *error,
             struct later_error *err);

#endif
