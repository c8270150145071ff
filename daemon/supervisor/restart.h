/*
 * restart.h: how fast a crashed worker comes back. Pure.
 *
 * At once, the first five times in a row; then after 1 s, doubling to 60 s. A worker that lived for
 * ten seconds, or ended well, begins a new row. (Dovecot throttles its services alike: 2 s doubling
 * to 60 s, reset by one good exit.)
 */
#ifndef LATERD_RESTART_H
#define LATERD_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct restart {
    uint32_t crashes; /* in a row */
};

/* Notes how a worker ended after `lived` seconds; returns the seconds to wait before the next. */
double restart_after(struct restart *restart, bool crashed, double lived);

#endif
