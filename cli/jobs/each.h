/*
 * each.h: one verb for jobs given by id, one after the other: kick, bury, cancel, move; ack,
 * release, touch.
 *
 * A job is looked for wherever its id can be: in all queues, or in that of -q; in its shards, in a
 * shard of a former plan.
 */
#ifndef LATER_CLI_EACH_H
#define LATER_CLI_EACH_H

#include "cli.h"
#include "redis/key.h"

#define EACH_STATE 16 /* bytes for a state's name */

struct each_verb {
    const char *heading; /* KICKED; NULL: a row only with --json */
    const char *done;    /* "kicked" */
    const char *freed; /* the word if the job had ended and only its id was still taken; or NULL */
    const char *none;  /* the words before an id that was found nowhere: "no dead or delayed job" */
    int missing;       /* the exit status then; 0: LATER_E_NONE */
    unsigned find;     /* of enum find (find.h): what counts besides a job */
    /* Acts on the job in one part, with the argument of each_run(). `was` becomes the state that
     * the job had, or "" if it is not there. Returns 0; an exit status after saying why the job was
     * left alone; or -1 with *err. */
    int (*fn)(struct cli *cli, const struct later_keys *keys, const char *id, const void *arg,
              char was[EACH_STATE], struct later_error *err);
};

/* For fn: calls a script that answers with the state that its job had. It is not called again if
 * the answer is lost. Returns as fn. */
int each_call(struct cli *cli, struct later_command *cmd, char was[EACH_STATE],
              struct later_error *err);

/* Acts on the ids of the command line and reports each. arg goes to fn. An id that several queues
 * have is left alone, and so reported. Returns LATER_OK; the last status of an id that was not
 * acted on, after saying so; or -1 with *err. */
int each_run(struct cli *cli, const struct each_verb *verb, const void *arg,
             struct later_error *err);

struct many_verb;

/* The function of a command that takes ids or, instead, conditions (choose/many.h). */
int each_or_many_run(struct cli *cli, const struct each_verb *each, const struct many_verb *many,
                     struct later_error *err);

#endif
