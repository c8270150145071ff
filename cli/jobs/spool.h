/*
 * spool.h: which jobs were chosen, in a file without a name, so that there may be millions of them:
 * their places, ids and scores.
 */
#ifndef LATER_CLI_SPOOL_H
#define LATER_CLI_SPOOL_H

#include "jobs/choose.h"

#define SPOOL_BYTES 1048576 /* of members in a batch, unless the first alone is more */

struct spool;

/* NULL with *err. */
struct spool *spool_new(struct later_error *err);
void spool_free(struct spool *spool);

/* whole: the queue that the part is of. Returns 0, or -1 with *err. */
int spool_add(struct spool *spool, const char *whole, const struct chosen *chosen,
              struct later_error *err);

/* From the beginning. */
int spool_rewind(struct spool *spool, struct later_error *err);

/* Some that are in one place, in their order. Borrowed until the next call. */
struct spool_batch {
    const char *whole, *part; /* queues */
    const char *token;        /* "" = not reserved */
    enum later_key set;
    const struct later_acted *jobs;
    size_t count;
};

/* At most `most` (up to LATER_BATCH_MAX). Returns 1; 0 at the end; -1 with *err. */
int spool_next(struct spool *spool, size_t most, struct spool_batch *batch,
               struct later_error *err);

#endif
