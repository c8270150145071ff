/*
 * check_beside.h: what stands beside a queue's jobs: has each record its job, has each document a
 * place, is there one wake at most, has each done job that is kept its document?
 */
#ifndef LATER_CLI_CHECK_BESIDE_H
#define LATER_CLI_CHECK_BESIDE_H

#include "check/check_scan.h"

/* Adds to the faults of *scan: of the records, the wake, the done jobs. Returns 0, or -1 with *err
 * where Redis fails. */
int check_beside(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                 struct later_error *err);

/* The same of the documents, each of which is looked for in all sets: where the numbers say that
 * some are in none. */
int check_documents(struct cli *cli, const struct later_keys *keys, struct check_scan *scan,
                    struct later_error *err);

#endif
