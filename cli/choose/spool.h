/*
 * spool.h: notes which jobs were chosen (their places, ids and scores) in an unnamed file, so that
 * there may be millions of them.
 */
#ifndef LATER_CLI_SPOOL_H
#define LATER_CLI_SPOOL_H

#include "choose/choose.h"

#define SPOOL_BYTES 1048576 /* bytes of members in a batch, unless the first is longer */

struct spool;

/* Returns NULL with *err. */
struct spool *spool_new(struct later_error *err);
void spool_free(struct spool *spool);

/* whole: the queue to which the part belongs. Returns 0, or -1 with *err. */
int spool_add(struct spool *spool, const char *whole, const struct chosen *chosen,
              struct later_error *err);

/* Goes back to the first job. */
int spool_rewind(struct spool *spool, struct later_error *err);

/* Some jobs of one place, in their order. Borrowed until the next call. */
struct spool_batch {
    const char *whole, *part; /* names of queues */
    const char *token;        /* "" if not reserved */
    enum later_key set;
    const struct later_acted *jobs;
    size_t count;
};

/* Reads at most `most` jobs (up to LATER_BATCH_MAX). Returns 1; 0 at the end; -1 with *err. */
int spool_next(struct spool *spool, size_t most, struct spool_batch *batch,
               struct later_error *err);

#endif
