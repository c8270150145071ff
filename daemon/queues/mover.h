/*
 * mover.h: moves news of flows from one queue to another (doc/protocol.md, "Flows").
 *
 * A job of a flow may lie in another queue than the flow. The script that ends it puts that into
 * the queue's news; a mover has the flow's queue hear it, and removes it only then. What the flow
 * decides goes the other way likewise. A mover may die at any moment, and there may be any number
 * of them: news that is heard twice changes nothing, and none is heard for the first time before
 * what is older.
 *
 * migrate says when there is news, so that a queue without news costs nothing here. A queue that
 * refuses to hear keeps its news where it is, and holds up no other.
 */
#ifndef LATERD_MOVER_H
#define LATERD_MOVER_H

#include "link/link.h"
#include "queue/queue.h"

struct mover;

/* config and link are borrowed. NULL with *err. */
struct mover *mover_new(const struct config *config, struct link *link, struct later_error *err);
/* NULL is fine. */
void mover_free(struct mover *mover);

/* What migrate has answered for a queue that is served here. */
void mover_told(struct mover *mover, const char *queue, const struct later_migrated *migrated);

/* What Redis refuses; NULL: nothing. */
const char *mover_fault(const struct mover *mover);

#endif
