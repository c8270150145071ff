/* cancel.h: cancels jobs, whatever their states. */
#ifndef LATER_CLI_CANCEL_H
#define LATER_CLI_CANCEL_H

#include "cli.h"
#include "redis/key.h"

/* Cancels jobs of one queue, 1 to LATER_BATCH_MAX. Returns how many there were, or -1 with *err. */
int64_t cancel_some(struct cli *cli, const struct later_keys *keys, const char *const *ids,
                    size_t count, struct later_error *err);

#endif
