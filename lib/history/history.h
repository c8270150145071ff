/*
 * history.h: a queue's past in Redis: which periods there are, how they are written and read.
 *
 * A period is a hash: `later:{Q}:minute:N`, with N = UNIX time / 60, and coarser ones; `later:{Q}:
 * totals` is the same for all time. In each hash every laterd has a field, HOST:PID:RANDOM, with
 * everything that it has counted there, packed (tally.h), so it may be written again and again. The
 * whole queue has these hashes, not its shards. The field of a laterd that is gone is added to
 * LATER_FOLDED.
 *
 * Reading a range: choose a scale, ask for each of its periods in one write, and add up:
 *
 *     struct later_tallies tallies = { 0 };
 *
 *     for (n = later_period(scale, from); n <= later_period(scale, to); n++)
 *         later_history_ask(&cmd, &keys, scale, n);       … send each …
 *     later_history_read(&tallies, reply);                … of each answer …
 *     row = later_tallies_find(&tallies, "mail.send");
 *     p95 = later_histogram_quantile(&row->wait, 0.95);
 *     later_tallies_free(&tallies);
 */
#ifndef LATER_HISTORY_H
#define LATER_HISTORY_H

#include "history/tally.h"
#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdint.h>

enum later_scale { LATER_BY_MINUTE, LATER_BY_TEN, LATER_BY_HOUR, LATER_SCALES };

/* A scale: the word in its keys; seconds in a period; seconds for which a period is kept. */
struct later_scale_row {
    const char *name;
    uint32_t seconds, keep;
};
extern const struct later_scale_row later_scales[LATER_SCALES];

/* Returns the finest scale that has all of the last `seconds`; the coarsest if none has. */
enum later_scale later_scale_for(double seconds);

/* Returns the number of the period of a time (UNIX seconds, Redis's clock). */
int64_t later_period(enum later_scale scale, double at);

/* --- reading --- */

/* Sets the keys of what is counted outside the queues: only the totals, at `later:totals`. */
void later_history_besides(struct later_keys *keys, const char *prefix);

/* Encode HGETALL of a period; of the totals. */
void later_history_ask(struct later_command *cmd, const struct later_keys *keys,
                       enum later_scale scale, int64_t period);
void later_history_ask_totals(struct later_command *cmd, const struct later_keys *keys);

/* Adds the fields of such an answer; fields that are not ours are skipped. */
void later_history_read(struct later_tallies *tallies, const struct later_reply *reply);

/* --- writing: LATER_SCRIPT_NOTE, of which later_history_noted() says whether it was written --- */

/* The field of the laterds that are gone. No laterd has this name: theirs have a colon. */
#define LATER_FOLDED "all"

/* Write one field of a period; of the totals (`known`: we have written it before). `packed` is
 * borrowed until it returns. */
void later_history_note(struct later_command *cmd, const struct later_keys *keys,
                        enum later_scale scale, int64_t period, const char *field,
                        const char *packed, size_t len);
void later_history_note_total(struct later_command *cmd, const struct later_keys *keys,
                              const char *field, bool known, const char *packed, size_t len);
bool later_history_noted(const struct later_reply *reply);

/* Merges fields from an answer of later_history_ask() or _ask_totals() into one, and deletes them,
 * provided that they are unchanged in Redis. gone(arg, field) says which. now: Redis's clock, which
 * sets how long the period is kept. period: -1 for the totals. Returns how many fields there are;
 * with fewer than two *cmd is unchanged. */
size_t later_history_fold(struct later_command *cmd, const struct later_keys *keys,
                          enum later_scale scale, int64_t period, double now,
                          const struct later_reply *reply,
                          bool (*gone)(void *arg, const char *field), void *arg);

#endif
