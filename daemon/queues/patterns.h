/*
 * patterns.h: which queues are there that the patterns of a configuration may mean?
 *
 * Those in later:queues, where whoever pushes puts the name. How many these are is asked three
 * times a second; the names are read when that has changed, and every ten seconds in any case, a
 * page at a time: the set may be large, and neither Redis nor we shall stand still for it.
 */
#ifndef LATERD_PATTERNS_H
#define LATERD_PATTERNS_H

#include "config/config.h"
#include "link/link.h"

#define PATTERNS_SEEN 65536 /* names; of those beyond it none is told */

struct patterns;

/* found: one that was not there when the names were read before, whether or not a pattern means
 * it. The link is borrowed, and must be freed first. NULL: no memory. */
struct patterns *patterns_new(struct event_base *base, const struct config *config,
                              struct link *link, void (*found)(void *arg, const char *queue),
                              void *arg);
/* NULL is fine. */
void patterns_free(struct patterns *patterns);

/* Another configuration: without a pattern nothing is asked. */
void patterns_configure(struct patterns *patterns, const struct config *config);

/* Those that were there when the names were read last. */
void patterns_each(const struct patterns *patterns, void (*fn)(void *arg, const char *queue),
                   void *arg);

/* What keeps it from finding queues, in words; NULL: nothing. */
const char *patterns_fault(const struct patterns *patterns);

#endif
