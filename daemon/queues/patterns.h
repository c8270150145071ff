/*
 * patterns.h: finds the queues that patterns of the configuration may match.
 *
 * It looks in later:queues, where every pusher puts the name. It asks three times a second how many
 * names there are. It reads them when that has changed, and every ten seconds in any case. It reads
 * a page at a time, since the set may be large and must not hold up Redis or us.
 *
 * A name costs nothing, so one tenant could fill a pool with names. Where places are scarce, a
 * queue is wanted only if it is used, that is if it has jobs, schedules or shards: one of its keys
 * exists. Each look asks for the keys of some queues that wait for that, the latest first, then in
 * turn.
 */
#ifndef LATERD_PATTERNS_H
#define LATERD_PATTERNS_H

#include "config/config.h"
#include "link/link.h"

#define PATTERNS_SEEN 65536 /* names; further ones are not reported */

struct patterns;

/* There is a queue of this name. used: it is known to have something. Returns false if it is only
 * wanted if it is used: it is called again when that is known. */
typedef bool patterns_found_fn(void *arg, const char *queue, bool used);

/* found is called for each name that is new since the last reading, whether or not a pattern
 * matches it. The link is borrowed, and must be freed first. NULL: no memory. */
struct patterns *patterns_new(struct event_base *base, const struct config *config,
                              struct link *link, patterns_found_fn *found, void *arg);
/* NULL is fine. */
void patterns_free(struct patterns *patterns);

/* Takes another configuration. If it has no pattern, nothing is asked. */
void patterns_configure(struct patterns *patterns, const struct config *config);

/* Has the names read anew, whatever their number. Calls `read` with the arg of patterns_new():
 * once, maybe at once, and also if Redis does not answer. Not to be called again before that. */
void patterns_read(struct patterns *patterns, void (*read)(void *arg));

/* Calls fn for each name of the last reading. If it returns false, `found` is called for this name
 * when it is used. */
void patterns_each(struct patterns *patterns, patterns_found_fn *fn, void *arg);

/* Says what keeps it from finding queues; NULL: nothing. */
const char *patterns_fault(const struct patterns *patterns);

#endif
