/*
 * check_scan.h: is each member of a queue's sets in one set only, and has it a document?
 *
 * The queue may be alive: a member that moves while it is looked at is no fault. What looks wrong
 * is looked at once more, all at one moment (MULTI), and only then believed.
 */
#ifndef LATER_CLI_CHECK_SCAN_H
#define LATER_CLI_CHECK_SCAN_H

#include "cli.h"

struct check_scan {
    uint64_t looked_at; /* members */
    uint64_t unadopted; /* of ready and delayed: documents of their own */
    uint64_t reserved;  /* held by tokens */
    uint64_t faults;
    char fault[400]; /* the first one, in words */
};

/* Looks through the four sets page by page. Returns 0, or -1 with *err where Redis fails. */
int check_scan(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
               struct later_error *err);

/* Notes that something is wrong about an id; words are kept for the first one. */
void check_scan_fault(struct check_scan *scan, const char *id, const char *what);

#endif
