/*
 * earlier.h: how a job failed before it failed last, as its record keeps it (doc/protocol.md,
 * "Records").
 */
#ifndef LATER_CLI_EARLIER_H
#define LATER_CLI_EARLIER_H

#include "output/jsonl.h"
#include "output/table.h"
#include "queue/inspect.h"

/* A member `earlier`: the failures, the newest first, each with all that its error had. Nothing
 * where there are none. */
void earlier_json(struct jsonl *json, const struct later_seen *seen);

/* For a person: a row each, which attempt and why. */
void earlier_rows(struct table *card, const struct later_seen *seen);

#endif
