/*
 * progress.h: passes the progress of a running job from its worker to the keeper, in its slot.
 *
 * The worker writes as often as its handler reports; the keeper reads when it is time to tell
 * Redis. `progress` of the slot grows by two with each change, and is odd while one is being
 * written, so a reader knows whether what it has read is whole.
 */
#ifndef LATERD_PROGRESS_H
#define LATERD_PROGRESS_H

#include "reservation/slots.h"

/* For the worker. text is cut at SLOT_NOTE bytes. */
void progress_note(struct slot *slot, double done, double total, const char *text);

/* For the keeper: the progress, in the reader's own memory. `change` tells it from the last. */
struct progress {
    uint32_t change;
    double done, total;
    char note[SLOT_NOTE + 1];
};

/* Is there a change since `told`, written completely? Then copies it to *progress. */
bool progress_read(const struct slot *slot, uint32_t told, struct progress *progress);

/* `{"done":…,"total":…,"text":…}` for later_queue_progress(); malloc'ed, NULL without memory. */
char *progress_text(const struct progress *progress);

#endif
