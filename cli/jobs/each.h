/*
 * each.h: one verb for jobs given by id, one after the other: kick, bury, cancel.
 *
 * A job is looked for wherever its id can be: in the queue, in its shards, in a shard of a former
 * plan.
 */
#ifndef LATER_CLI_EACH_H
#define LATER_CLI_EACH_H

#include "cli.h"
#include "redis/key.h"

#define EACH_STATE 16 /* bytes for a state's name */

struct each_verb {
    const char *heading; /* KICKED */
    const char *done;    /* "kicked" */
    const char *freed; /* the word if the job had ended and only its id was still taken; or NULL */
    const char *none;  /* the words before an id that was found nowhere: "no dead or delayed job" */
    /* Acts on the job in one part. `was` becomes the state that the job had, or "" if it is not
     * there. Returns 0, or -1 with *err. */
    int (*fn)(struct cli *cli, const struct later_keys *keys, const char *id, const char *error,
              char was[EACH_STATE], struct later_error *err);
};

/* For fn: calls a script that answers with the state that its job had. It is not called again if
 * the answer is lost. Returns as fn. */
int each_call(struct cli *cli, struct later_command *cmd, char was[EACH_STATE],
              struct later_error *err);

/* Acts on the ids of the command line, in the queue of --queue, and reports each. error goes to fn.
 * Returns LATER_OK; LATER_E_NONE if an id was found nowhere, after saying so; or -1 with *err. */
int each_run(struct cli *cli, const struct each_verb *verb, const char *error,
             struct later_error *err);

#endif
