/*
 * earlier.h: the failures of a job before its last one, and what it has logged, as its record keeps
 * them (doc/protocol.md, "Records").
 */
#ifndef LATER_CLI_EARLIER_H
#define LATER_CLI_EARLIER_H

#include "output/jsonl.h"
#include "output/table.h"
#include "queue/inspect.h"

/* Adds a member `earlier`: the failures, the newest first, each with all members that an error has.
 * Adds nothing if there are none. */
void earlier_json(struct jsonl *json, const struct later_seen *seen);

/* Adds a row for each failure: which attempt, and why. For people. */
void earlier_rows(struct table *card, const struct later_seen *seen);

/* Adds a row for each line that it has logged, and one before them that says how many were dropped.
 * For people. Adds nothing if there are none, or if what is kept is not of our form. */
void earlier_log_rows(struct table *card, const struct later_seen *seen);

#endif
