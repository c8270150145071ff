/*
 * many.h: acts on all jobs that match a filter: kick, bury, cancel, move.
 *
 * It first looks at all jobs and notes those that match. Then it asks. Then it acts on the noted
 * jobs only, and only if each is still as it was seen. So a dry run tells the most that can be
 * changed.
 */
#ifndef LATER_CLI_MANY_H
#define LATER_CLI_MANY_H

#include "choose/choose.h"

struct many_verb {
    const char *name, *done; /* "kick", "kicked" */
    const char *ask;         /* "Kick" */
    const char *ask_end;     /* " for good"; NULL: nothing */
    const char *stays;      /* those that are left alone are …; NULL: no longer where they were */
    const char *with;       /* what the script is told besides; NULL: nothing */
    const char *but;        /* the queue that -A leaves out; NULL: none */
    enum later_key sets[6]; /* the sets that it takes, in the order of the walk */
    size_t set_count;
    bool brisk;  /* if --state is the only condition it does not rest between its calls */
    size_t most; /* jobs in a call; 0: as many as go in one */
    /* Called after each call that has acted on jobs of this part. Returns 0, or -1 with *err. NULL:
     * nothing is to be done. */
    int (*then)(struct cli *cli, const struct later_keys *part, const struct many_verb *verb,
                struct later_error *err);
};

/* The options of a command that uses many_run(). */
#define MANY_OPTIONS                                                                               \
    CHOOSE_OPTIONS, { "rate", 0, "N", "at most N jobs a second" },                                 \
        { "all", 0, NULL, "all of them, without a condition" },                                    \
        { "dry-run", 0, NULL, "only say how many" },                                               \
        { "ask", 0, "line", "with --json: ask by a line; `yes` on standard input goes on" },       \
    {                                                                                              \
        "yes", 'y', NULL, "do not ask"                                                             \
    }

/* The lines for its help. */
#define MANY_MORE                                                                                  \
    "CONDITIONS are the options from --state to --not: the jobs that meet all of them. The\n"      \
    "command looks, asks, then acts on the jobs that it found, if they have not moved since.\n"    \
    "^C ends it; it says how far it came.\n"

/* The command's function. */
int many_run(struct cli *cli, const struct many_verb *verb, struct later_error *err);

#endif
