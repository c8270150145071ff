/*
 * peek.h: prints a job, and what is known of it besides.
 */
#ifndef LATER_CLI_PEEK_H
#define LATER_CLI_PEEK_H

#include "cli.h"
#include "job/document.h"
#include "output/jsonl.h"
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

/* --- left.c: what the handler of a done job that is kept gave back (doc/protocol.md, "Results") */

struct left {
    struct later_reply *reply; /* owned */
    const char *value;         /* JSON, byte for byte; NULL: it left none, or it is not kept */
    size_t len;
};

/* Asks for what this job, in a part of a queue, has left; nothing is asked of one that is not done.
 * What is of another job of its id, or may not be read, is left out. Returns 0, or -1 with *err if
 * Redis does not answer. left_free() is due in both cases. */
int left_find(struct cli *cli, const struct later_keys *part, const struct later_seen *seen,
              struct left *left, struct later_error *err);
void left_free(struct left *left);

/* --- earlier.c: how a job failed before it failed last, and what it has logged, as its record
 * keeps it (doc/protocol.md, "Records") */

/* Adds a member `earlier`: the failures, the newest first, each with all members that an error has.
 * Adds nothing if there are none. */
void earlier_json(struct jsonl *json, const struct later_seen *seen);

/* Adds a row for each failure: which attempt, and why. For people. */
void earlier_rows(struct table *card, const struct later_seen *seen);

/* Adds a row for each line that it has logged, and one before them that says how many were dropped.
 * For people. Adds nothing if there are none, or if what is kept is not of our form. */
void earlier_log_rows(struct table *card, const struct later_seen *seen);

#endif
