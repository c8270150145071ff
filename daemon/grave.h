/*
 * grave.h: what a dead worker left in its page, until all of it is settled.
 *
 * Its jobs go into the outbox at once. Its locks and places are freed at once, its reserves without
 * an answer are looked for by their tokens: twice, a second apart, where nobody knows whether they
 * were taken, since a command that was in Redis's input when the worker died may run a moment
 * later.
 */
#ifndef LATERD_GRAVE_H
#define LATERD_GRAVE_H

#include "keeper.h"
#include "outbox.h"

struct graves;

/* buried is told when nothing of a page is open any more. NULL: no memory. */
struct graves *graves_new(struct event_base *base, struct link *link, const char *prefix,
                          struct outbox *outbox, outbox_keys_fn *keys,
                          void (*buried)(void *arg, struct slots *slots), void *arg);
void graves_free(struct graves *graves);

/* Takes the page of a dead worker. */
void grave_dig(struct graves *graves, struct slots *slots, enum keeper_cause cause,
               const char *text, uint32_t crash_max);

/* The outbox has settled one slot of the page; the link is up again. */
void graves_settled(struct graves *graves, struct slots *slots);
void graves_link_up(struct graves *graves);

/* How many pages are not done. */
size_t graves_open(const struct graves *graves);

/* How a slot that was RUNNING is to be settled. `others`: more ran beside it. Pure. */
void grave_judge(struct slot *slot, bool others, enum keeper_cause cause, const char *text,
                 uint32_t crash_max);

#endif
