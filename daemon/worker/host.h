/*
 * host.h: the functions of later/job.h that plugins call.
 */
#ifndef LATERD_HOST_H
#define LATERD_HOST_H

struct later_host;
struct worker;

/* The table that plugins get; of no worker, NULL, what `laterd -t` and `--perform` can do. */
const struct later_host *host_table(struct worker *worker);

#endif
