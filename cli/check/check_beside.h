/*
 * check_beside.h: checks what belongs to a queue's jobs. Each record has a job, each document is in
 * a set, there is at most one wake, each kept done job has its document.
 */
#ifndef LATER_CLI_CHECK_BESIDE_H
#define LATER_CLI_CHECK_BESIDE_H

#include "check/check_scan.h"

/* Checks records, the wake and the kept jobs, and adds their faults to *scan. Returns 0, or -1 with
 * *err if Redis fails. */
int check_beside(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                 struct later_error *err);

/* Looks for each document in all sets. This is only needed if the numbers say that some are in
 * none. */
int check_documents(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                    struct later_error *err);

#endif
