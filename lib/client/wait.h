/*
 * wait.h: later_wait(), even for an id that may have been pushed before.
 *
 * A wait is a look and a BLMOVE of at most LATER_WAIT_SLICE seconds, in turn. The BLMOVE gets the
 * result at once; the look notices a job that is gone without one. A push drops the result of an
 * earlier job of its id. If at the first look both job and result are there all the same, the job
 * was kicked, or pushed while the earlier one ran, and the result is removed. Later results are
 * new, unless that one still runs: then the wait is for the last that was pushed meanwhile.
 */
#ifndef LATER_WAIT_H
#define LATER_WAIT_H

#include "later/client.h"

#define LATER_WAIT_SLICE 5.0 /* seconds */

#endif
