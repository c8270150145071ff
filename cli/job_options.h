/*
 * job_options.h: the options of a job (lib/job/options.tab) on a command line.
 */
#ifndef LATER_CLI_JOB_OPTIONS_H
#define LATER_CLI_JOB_OPTIONS_H

#include "cli.h"
#include "later/client.h"

/* Sets those options of *job that the command has and the command line gives. *backoff gets a
 * string that *job then borrows, for the caller to free; or NULL. Returns 0, or -1 with *err
 * (LATER_E_USAGE); also then *backoff is set. */
int job_options_take(const struct cli *cli, struct later_new_job *job, char **backoff,
                     struct later_error *err);

#endif
