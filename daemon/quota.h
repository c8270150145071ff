/*
 * quota.h: how many jobs all workers of this laterd together may still begin (option stop_after).
 *
 * It lies in memory that the supervisor shares with the workers it forks, so each job that begins
 * is counted once, whoever runs it.
 */
#ifndef LATERD_QUOTA_H
#define LATERD_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct quota;

/* Makes one for `jobs` jobs, at least 1. Returns NULL without memory. Free it in the process that
 * made it. */
struct quota *quota_new(uint32_t jobs);

/* Frees it; workers keep theirs. NULL is fine. */
void quota_free(struct quota *quota);

/* May a job begin? It is counted then. NULL: always. */
bool quota_take(struct quota *quota);

/* Has the last one begun? NULL: never. */
bool quota_is_spent(const struct quota *quota);

#endif
