/*
 * announce_load.h: tells, in our field of later:hosts, how busy this laterd has been for half an
 * hour, how much memory it has, and of which pools it is made.
 */
#ifndef LATERD_ANNOUNCE_LOAD_H
#define LATERD_ANNOUNCE_LOAD_H

#include "config/config.h"

#include <stdio.h>

#define ANNOUNCE_MINUTES 30 /* earlier ones are forgotten */

/* Zeroed at first. */
struct announce_load {
    struct announce_minute {
        uint64_t sum; /* of the jobs that ran at each look */
        uint32_t looks;
    } minutes[ANNOUNCE_MINUTES]; /* minute m is in place m % ANNOUNCE_MINUTES */
    double began;                /* the first look */
    uint64_t minute;             /* the present one, from 0 */
};

/* So many jobs run now, by later_clock(). */
void announce_load_look(struct announce_load *load, double now, uint32_t running);

/* Writes `,"busy":[2,1.5,null]`: how many jobs ran at once on average, a minute each, the present
 * one last; null for one in which nobody looked. Nothing without a look. */
void announce_load_write(const struct announce_load *load, FILE *out);

/* Writes `,"pools":[{"name":"mail","workers":2}]`. */
void announce_load_pools(const struct config *config, FILE *out);

#endif
