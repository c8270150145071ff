/*
 * wait.h: later_wait(), even for an id that may have been pushed before.
 *
 * A wait is a look and a BLMOVE of at most LATER_WAIT_SLICE seconds, in turn. The BLMOVE gets the
 * result at once; the look notices a job that is gone without one. A push drops the result of an
 * earlier job of its id. If at the first look both job and result are there all the same, the job
 * was kicked, or pushed while the earlier one ran, and the result is removed. Later results are
 * new.
 */
#ifndef LATER_WAIT_H
#define LATER_WAIT_H

#include "later/client.h"

#define LATER_WAIT_SLICE 5.0 /* seconds */

/* Does later_wait() for a job whose push was answered LATER_IS_AGAIN: what the job before it leaves
 * is not its result. If several were pushed meanwhile, it waits for the last of them. */
int later_wait_again(struct later_client *client, const char *queue, const char *id, double wait,
                     struct later_end *end, struct later_error *err);

#endif
