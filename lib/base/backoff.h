/*
 * backoff.h: how long to wait before the next attempt. Pure.
 *
 * Exponential with jitter, or a fixed list:
 *     wait = min(max, base × 2^(attempt-1)) × (1 - jitter … 1), spread evenly
 * Jitter only shortens a wait, so no wait is longer than `max`. (Why jitter: Brooker, "Exponential
 * Backoff And Jitter", AWS Architecture Blog, 2015.)
 */
#ifndef LATER_BACKOFF_H
#define LATER_BACKOFF_H

#include <stdint.h>

#define LATER_DELAY_MAX 315360000.0 /* ten years in seconds: no wait is longer */

/* clang-format off */
/* @options wait.list: #define LATER_BACKOFF_{UPPER}_MAX {most} */
#define LATER_BACKOFF_LIST_MAX 32
/* @end */
/* clang-format on */

struct later_backoff {
    double base;   /* seconds before the second attempt */
    double max;    /* seconds; the longest wait */
    double jitter; /* 0 … 1: how much of the wait is random */
    uint32_t list_count;
    double list[LATER_BACKOFF_LIST_MAX]; /* seconds; used instead if list_count > 0 */
};

/* Seconds to wait after `attempt` (from 1; 0 counts as 1) has failed: 0 to LATER_DELAY_MAX.
 * `random` is any 64 random bits: 0 gives the shortest wait, UINT64_MAX the longest. A list has no
 * jitter, and its last entry repeats. A negative max means LATER_DELAY_MAX, a negative base or
 * jitter 0. */
double later_backoff_delay(const struct later_backoff *backoff, uint32_t attempt, uint64_t random);

#endif
