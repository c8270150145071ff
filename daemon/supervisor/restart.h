/*
 * restart.h: how fast a crashed worker comes back. Pure.
 *
 * At once, the first five times in a row; then after 1 s, doubling to 60 s. A worker that lived for
 * ten seconds, or ended well, begins a new row. (Dovecot throttles its services alike: 2 s doubling
 * to 60 s, reset by one good exit.)
 *
 * If a job is to blame, the wait stays at 1 s: that job waits for its own backoff and is buried
 * after crash_max, and the others should not wait with it.
 */
#ifndef LATERD_RESTART_H
#define LATERD_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct restart {
    uint32_t crashes; /* in a row */
};

enum restart_cause { RESTART_GOOD, RESTART_CRASH, RESTART_JOB };

/* Notes how a worker ended after `lived` seconds; returns the seconds to wait before the next. */
double restart_after(struct restart *restart, enum restart_cause cause, double lived);

#endif
