/*
 * reschedule.h: `later edit` with --in, --at or --priority: when a job is due, and its priority.
 */
#ifndef LATER_CLI_RESCHEDULE_H
#define LATER_CLI_RESCHEDULE_H

#include "cli.h"

#define RESCHEDULE_OPTIONS                                                                         \
    { "in", 'i', "DURATION", "it may run when this has passed; 0: at once" },                      \
        { "at", 'a', "TIME", "it may not run before this time" },                                  \
    {                                                                                              \
        "priority", 'p', "N", "its new priority, -100 to 100"                                      \
    }

/* Does the command line have one of these options? */
bool reschedule_is_asked(const struct cli *cli);

/* Does it to the ids of the command line, and reports each, as each_run(). A job that is reserved,
 * dead or waiting for others is left alone: LATER_E_LATER, after saying why. */
int reschedule_run(struct cli *cli, struct later_error *err);

#endif
