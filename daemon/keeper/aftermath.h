/*
 * aftermath.h: what a dead worker left in its page, until all of it is settled.
 *
 * Its jobs go into the outbox at once, and its locks and permits are freed at once. Reserves
 * without an answer are looked for by their tokens. If it is not known whether they ran, they are
 * looked for twice, a second apart: a command that was in Redis's input when the worker died may
 * still run.
 */
#ifndef LATERD_AFTERMATH_H
#define LATERD_AFTERMATH_H

#include "link/link.h"
#include "reservation/outbox.h"
#include "reservation/slots.h"

struct aftermath;

/* buried is called when a page has nothing open any more. NULL: no memory. */
struct aftermath *aftermath_new(struct event_base *base, struct link *link, const char *prefix,
                                struct outbox *outbox, outbox_keys_fn *keys,
                                void (*buried)(void *arg, struct slots *slots), void *arg);
void aftermath_free(struct aftermath *aftermath);

/* Takes the page of a dead worker. ending: of the jobs that ran: CRASH if it died by itself or was
 * killed; TIMEOUT or INTERRUPTED if we ended it; LEFT if the page was found at the start. */
void aftermath_take(struct aftermath *aftermath, struct slots *slots, enum later_ending ending,
                    const char *text, uint32_t crash_max);

/* The outbox has settled one slot of the page. If its job goes into a line, that is asked for; it
 * may be there already, or have been called, which does no harm. */
void aftermath_settled(struct aftermath *aftermath, struct slots *slots, struct slot *slot);
/* The link is up again. */
void aftermath_link_up(struct aftermath *aftermath);

/* Returns how many pages are not done. */
size_t aftermath_open(const struct aftermath *aftermath);

/* Calls fn for each of them. */
void aftermath_each(const struct aftermath *aftermath, void (*fn)(void *arg, struct slots *slots),
                    void *arg);

/* Sets how a slot that was RUNNING is to be settled. `others`: other jobs ran beside it. Pure. */
void aftermath_judge(struct slot *slot, bool others, enum later_ending ending, const char *text,
                     uint32_t crash_max);

#endif
