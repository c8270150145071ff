/*
 * logged.h: what a job has logged, as its record keeps it (doc/protocol.md, "Records").
 */
#ifndef LATER_CLI_LOGGED_H
#define LATER_CLI_LOGGED_H

#include "output/table.h"
#include "queue/inspect.h"

/* Adds a row for each line, and one before them that says how many were dropped. For people. Adds
 * nothing if there are none, or if what is kept is not of our form. */
void logged_rows(struct table *card, const struct later_seen *seen);

#endif
