/*
 * lookers.h: is this host one of the few that look after its queues?
 *
 * Of all hosts that serve the same queues, three look: migrator, ticker and sweeps of shards. Each
 * does all of it, so that while one of them is left nothing is late. A post among them is for
 * three seconds, and asked for anew each second, or each five while nobody waits for one. A host
 * without a post asks now and then; the more there are, the less often, so that together they ask
 * about ten times a second.
 *
 * What it hears is in queues->others_look, and how many hosts wait for a post in queues->others.
 *
 * It fails open: a host looks until it hears that others do, and when Redis does not say. A host
 * whose looks are refused, or that cannot fire a schedule, leaves its post to others, and looks on
 * beside them.
 */
#ifndef LATERD_LOOKERS_H
#define LATERD_LOOKERS_H

#include "later/error.h"

struct queue;
struct queues;

/* Of its row (services.h), what is also called by name. */
int lookers_new(struct queues *queues, struct later_error *err);
void lookers_configure(struct queues *queues);
void lookers_link_up(struct queues *queues);

/* Called when something is sent anyway: asks if that is due; the caller flushes the link. */
void lookers_beat(struct queues *queues);

/* We are about to end: others may have our post. The caller flushes the link. */
void lookers_leave(struct queues *queues);

#endif
