/*
 * peek.h: a job that was seen, printed.
 */
#ifndef LATER_CLI_PEEK_H
#define LATER_CLI_PEEK_H

#include "cli.h"
#include "job/document.h"
#include "queue/inspect.h"

/* One object a line, as --json. */
void peek_print_json(const char *queue, const struct later_seen *seen);

/* The type of its document, "" where it has none that can be read. */
void peek_type(const struct later_seen *seen, char type[LATER_TYPE_MAX + 1]);

/* `3 of 9, page 3`, into a table. */
void peek_add_progress(struct table *table, const struct later_seen *seen);

/* A table of jobs: its headings; a row. */
void peek_begin_rows(const struct cli *cli, struct table *table);
void peek_add_row(const struct cli *cli, struct table *table, const struct later_seen *seen);

#endif
