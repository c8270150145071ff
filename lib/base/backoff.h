/*
 * backoff.h: how long to wait before the next attempt. Pure.
 *
 * Exponential with jitter, or a fixed list:
 *     wait = min(max, base × 2^(attempt-1)) × (1 - jitter … 1), spread evenly
 * The jitter only shortens, so that `max` is a promise. (Why jitter at all: Brooker, "Exponential
 * Backoff And Jitter", AWS Architecture Blog, 2015.)
 */
#ifndef LATER_BACKOFF_H
#define LATER_BACKOFF_H

#include <stdint.h>

#define LATER_BACKOFF_LIST_MAX 32
#define LATER_DELAY_MAX        315360000.0 /* ten years in seconds: no wait is longer */

struct later_backoff {
    double base;   /* seconds before the second attempt */
    double max;    /* seconds; never longer */
    double jitter; /* 0 … 1: how much of the wait is left to chance */
    uint32_t list_count;
    double list[LATER_BACKOFF_LIST_MAX]; /* seconds; used instead where list_count > 0 */
};

/* Seconds to wait after `attempt` (from 1) has failed. `random` is any 64 random bits. A list is
 * used as it stands, its last entry again and again. Never negative, never over LATER_DELAY_MAX,
 * no overflow at any attempt. attempt 0 counts as 1. A negative max is none but LATER_DELAY_MAX, a
 * negative base or jitter is 0; random 0 gives the shortest wait, UINT64_MAX the longest. */
double later_backoff_delay(const struct later_backoff *backoff, uint32_t attempt, uint64_t random);

#endif
