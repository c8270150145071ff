/*
 * check_scan.h: checks that each member of a queue's sets is in one set only and has a document.
 *
 * The queue may be in use: a member that moves during the look is no fault. What looks wrong is
 * looked at again in one MULTI, and only then counts.
 */
#ifndef LATER_CLI_CHECK_SCAN_H
#define LATER_CLI_CHECK_SCAN_H

#include "cli.h"

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

#endif
