/*
 * host.h: the functions of later/job.h that plugins call.
 */
#ifndef LATERD_HOST_H
#define LATERD_HOST_H

struct later_host;
struct worker;

/* Returns the table that plugins get. If worker is NULL, it is for `laterd -t` and `--perform`. */
const struct later_host *host_table(struct worker *worker);

#endif
