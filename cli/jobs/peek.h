/*
 * peek.h: prints a job.
 */
#ifndef LATER_CLI_PEEK_H
#define LATER_CLI_PEEK_H

#include "cli.h"
#include "job/document.h"
#include "queue/inspect.h"

/* Prints one object on a line, for --json. */
void peek_print_json(const char *queue, const struct later_seen *seen);

/* Finds the type in its document, or "" if that cannot be read. */
void peek_type(const struct later_seen *seen, char type[LATER_TYPE_MAX + 1]);

/* Adds `3 of 9, page 3` to a table. */
void peek_add_progress(struct table *table, const struct later_seen *seen);

/* The headings and a row of a table of jobs. */
void peek_begin_rows(const struct cli *cli, struct table *table);
void peek_add_row(const struct cli *cli, struct table *table, const struct later_seen *seen);

#endif
