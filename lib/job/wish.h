/*
 * wish.h: when a job is to be pushed, and what is to happen where its id is known, as people and
 * programs ask for it: which of it goes together (pure).
 */
#ifndef LATER_WISH_H
#define LATER_WISH_H

#include "later/error.h"

#include <stdbool.h>

/* Seconds; `at` is UNIX time. */
struct later_wish {
    bool named;        /* it has an id of its own */
    double in, at;     /* < 0 = not said */
    double unique_for; /* 0 = not said; likewise below */
    double debounce;   /* as `in`, put off again by each push of the id; < 0 = not said */
    double max_wait;   /* with debounce: but at most so long after the first of them */
    double throttle;   /* the id stays taken so long from now */
    bool again;        /* beside one that runs it waits for its end */
};

/* Does it go together? Returns 0, or -1 with *err (LATER_E_DATA), which names the members. */
int later_wish_check(const struct later_wish *wish, struct later_error *err);

#endif
