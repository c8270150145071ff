/* cancel.h: cancels one job, whatever its state. */
#ifndef LATER_CLI_CANCEL_H
#define LATER_CLI_CANCEL_H

#include "jobs/each.h"

/* `was` becomes the state that the job had, or "" if there is none. Returns 0, or -1 with *err. */
int cancel_one(struct cli *cli, const struct later_keys *keys, const char *id, char was[EACH_STATE],
               struct later_error *err);

#endif
