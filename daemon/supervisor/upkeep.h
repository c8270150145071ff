/*
 * upkeep.h: what the supervisor runs for the queues of one configuration: migrator, mover, ticker,
 * subscriber, wake listener. A reload makes a new one.
 */
#ifndef LATERD_UPKEEP_H
#define LATERD_UPKEEP_H

#include "keeper/keeper.h"
#include "queues/losses.h"
#include "queues/migrator.h"
#include "queues/mover.h"
#include "queues/subscriber.h"
#include "queues/ticker.h"
#include "queues/wake_listener.h"
#include "supervisor/workers.h"

struct upkeep {
    struct keeper *keeper; /* borrowed */
    struct losses *losses; /* borrowed */
    struct migrator *migrator;
    struct mover *mover;
    struct ticker *ticker;
    struct subscriber *subscriber;
    struct wake_listener *wake_listener;
};

/* What it needs besides; all is borrowed. */
struct upkeep_options {
    const char *host, *identity; /* identity.h */
    struct keeper *keeper;
    struct losses *losses;
    struct workers *workers;
};

/* Its arguments are borrowed. NULL with *err. */
struct upkeep *upkeep_new(struct event_base *base, const struct config *config, struct link *link,
                          const struct upkeep_options *options, struct later_error *err);
/* NULL is fine. */
void upkeep_free(struct upkeep *upkeep);

/* The link is up; the master is at `peer` now (link.h). */
void upkeep_link_up(struct upkeep *upkeep);
void upkeep_moved(struct upkeep *upkeep, const char *peer);

/* The configuration has another queue, the last of this pool's list (config_follow()). Returns 0,
 * or -1 without memory. */
int upkeep_follow(struct upkeep *upkeep, uint32_t pool, const char *queue);

/* While it is paused, nothing is moved. */
void upkeep_pause(struct upkeep *upkeep, bool paused);

/* Adds the connections to each node of a Cluster. */
void upkeep_count(const struct upkeep *upkeep, struct connections *connections);

#endif
