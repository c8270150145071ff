/*
 * wait.h: later_wait(), even for an id that may have been pushed before.
 *
 * A wait is a look and a BLMOVE of at most LATER_WAIT_SLICE seconds, in turn. The BLMOVE gets the
 * result at once; the look notices a job that is gone without one. If at the first look both job
 * and result are there, the result is of an earlier life of the job, which was pushed again or
 * kicked, and is removed. Later results are new.
 */
#ifndef LATER_WAIT_H
#define LATER_WAIT_H

#include "later/client.h"

#define LATER_WAIT_SLICE 5.0 /* seconds */

/* Returns the result that exists under this id before it is pushed again; "" if there is none.
 * malloc'ed, *len bytes. NULL with *err. */
char *later_wait_before(struct later_client *client, const char *queue, const char *id, size_t *len,
                        struct later_error *err);

/* Does later_wait() for a job that was just pushed; `before` is an earlier result, which is not
 * this job's. */
int later_wait_pushed(struct later_client *client, const char *queue, const char *id, double wait,
                      const char *before, size_t before_len, struct later_end *end,
                      struct later_error *err);

#endif
