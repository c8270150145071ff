/*
 * peek.h: prints a job.
 */
#ifndef LATER_CLI_PEEK_H
#define LATER_CLI_PEEK_H

#include "cli.h"
#include "job/document.h"
#include "queue/inspect.h"
#include "whole.h"

struct left;
struct why_answer;

/* What `later show` has asked for besides the job: why it does not run, what it has left. */
struct peek_beside {
    const struct why_answer *why;
    const struct left *left;
};

/* Prints one object on a line, for --json. beside: NULL: it was not asked for. */
void peek_print_json(const char *queue, const struct later_seen *seen,
                     const struct peek_beside *beside);

/* Finds the type in its document, or "" if that cannot be read. */
void peek_type(const struct later_seen *seen, char type[LATER_TYPE_MAX + 1]);

/* Adds `3 of 9, page 3` to a table. */
void peek_add_progress(struct table *table, const struct later_seen *seen);

/* A job of a queue, found. Owns the reply. */
struct peek_found {
    struct whole whole;            /* its queue */
    const struct later_keys *part; /* in which it is; of `whole` */
    struct later_seen seen;        /* borrows from the reply, and the id from the caller */
    struct later_reply *reply;
};

/* Looks for a job in each part of its queue where its id may be. Returns 1, 0 if it is in none, or
 * -1 with *err. Whatever it returns, call peek_found_end(). */
int peek_find(struct cli *cli, const char *queue, const char *id, struct peek_found *found,
              struct later_error *err);
void peek_found_end(struct peek_found *found);

/* The headings and a row of a table of jobs. */
void peek_begin_rows(const struct cli *cli, struct table *table);
void peek_add_row(const struct cli *cli, struct table *table, const struct later_seen *seen);

#endif
