/*
 * tour.h: a queue with jobs of every kind, and for each script a call that takes most of its paths.
 */
#ifndef TESTS_SCRIPTS_TOUR_H
#define TESTS_SCRIPTS_TOUR_H

#include <stdbool.h>
#include <stddef.h>

/* Empties Redis and fills it: jobs in all states, with something beside each, plain members, due
 * and lapsed ones, a stock, no limits yet. */
void tour_crowd(void);

/* Gives the jobs of a crowd that have a record a group. */
void tour_group(void);

/* Adds the arguments of a script's call on that crowd. All scripts can be called one after the
 * other, in the order of tour_scripts, on one crowd. */
void tour_arguments(const char *script);

/* The same for its nth call, from 0, if it needs several to take all paths. Returns false if there
 * is no such call. */
bool tour_nth_arguments(const char *script, size_t nth);

/* All scripts, ended by NULL. */
extern const char *const tour_scripts[];

/* What Redis holds of the queue, without times: members of each set, fields of each hash. */
const char *tour_picture(void);

#endif
