/*
 * many.h: acting on all jobs that a filter means: kick, bury, cancel, purge.
 *
 * First all are looked at, and those that are meant are noted; then it asks; then it acts on them,
 * and on nothing else, where each still is as it was seen. So a dry run tells how many it will be
 * at most.
 */
#ifndef LATER_CLI_MANY_H
#define LATER_CLI_MANY_H

#include "jobs/choose.h"

struct many_verb {
    const char *name, *done; /* "kick", "kicked" */
    const char *ask;         /* "Kick" */
    const char *ask_end;     /* " for good"; "" */
    enum later_key sets[4];  /* those that it takes, in the order in which they are gone through */
    size_t set_count;
};

/* The options that a command with many_run() has. */
#define MANY_OPTIONS                                                                               \
    CHOOSE_OPTIONS, { "rate", 0, "N", "at most N jobs a second" },                                 \
        { "dry-run", 0, NULL, "only say how many" },                                               \
    {                                                                                              \
        "yes", 'y', NULL, "do not ask"                                                             \
    }

/* For their help. */
#define MANY_MORE                                                                                  \
    "CONDITIONS are --state, --type, --older, --newer, --error, --kind, --attempts, --where and\n" \
    "--text: the jobs that meet all of them. The command looks, asks, then acts on the jobs "      \
    "that\n"                                                                                       \
    "it found, if they have not moved since. ^C ends it; it says how far it came.\n"

/* As the command's function. */
int many_run(struct cli *cli, const struct many_verb *verb, struct later_error *err);

#endif
