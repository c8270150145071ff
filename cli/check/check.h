/*
 * check.h: what the files of `later check` share.
 *
 * The queue may be in use: a member that moves during the look is no fault. What looks wrong is
 * looked at again in one MULTI, and only then counts.
 */
#ifndef LATER_CLI_CHECK_H
#define LATER_CLI_CHECK_H

#include "ahead.h"
#include "queue_list.h"

/* --- check_scan.c: each member of a queue's sets is in one set only and has a document */

struct check_scan {
    uint64_t looked_at; /* members */
    uint64_t unadopted; /* members of ready and delayed that are their own document */
    uint64_t reserved;  /* jobs held by tokens */
    uint64_t faults;
    char fault[400]; /* the first fault, in words */
};

/* Scans the four sets page by page. Returns 0, or -1 with *err if Redis fails. */
int check_scan(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
               struct later_error *err);

/* Counts a fault of an id. Only the words of the first one are kept. */
void check_scan_fault(struct check_scan *scan, const char *id, const char *what);

/* --- check_beside.c: each record has a job, each document is in a set, there is at most one wake,
 * each kept done job has its document */

/* Checks records, the wake and the kept jobs, and adds their faults to *scan. Returns 0, or -1 with
 * *err if Redis fails. */
int check_beside(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                 struct later_error *err);

/* Looks for each document in all sets. This is only needed if the numbers say that some are in
 * none. */
int check_documents(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                    struct later_error *err);

/* --- check_ahead.c: asks for what the check of a small queue needs, for many queues at once */

#define CHECK_TOGETHER 64 /* queues */

/* Fills ahead[0] … ahead[count - 1], which are zeroed, for `count` (at most CHECK_TOGETHER) queues,
 * in two round trips. Those of larger queues stay empty, since their check takes long, and its
 * numbers should be of one moment. */
void check_ahead(struct cli *cli, const later_queue_name *queues, size_t count,
                 struct ahead *ahead);

/* --- check_lost.c: has a laterd noticed that Redis has lost writes (lib's queue/lost.h)? */

/* Tells each loss of these queues (NULL: of all) in a line of JSON or a row of the table. Returns
 * LATER_OK if there is none, 1 if there is one, or -1 with *err. What the rights do not show counts
 * as none. */
int check_lost(struct cli *cli, const struct queue_list *queues, struct table *table,
               struct later_error *err);

/* --- check_saved.c: can the searches that are saved (choose/saved.h) be used? */

/* Tells each saved search that `later search` would refuse, and each that is of a queue which is
 * not among these, in a line of JSON or a row of the table. No job depends on them, so this breaks
 * nothing. Returns 0, or -1 with *err. What the rights do not show counts as none. */
int check_saved(struct cli *cli, const struct queue_list *queues, struct table *table,
                struct later_error *err);

#endif
