/*
 * page.h: a slot page as a worker leaves it, with its jobs in Redis.
 */
#ifndef PAGE_H
#define PAGE_H

#include "live.h"
#include "reservation/slots.h"

#define PAGE_TOKEN "0123456789abcdef"

/* A new page of the queues "q" and "r" with room for `capacity` slots. */
struct slots *page_new(uint32_t capacity);

/* Puts a job with this id into Redis, ready once with score 1000 + i and reserved now under
 * PAGE_TOKEN for `lease` seconds, and into slot i of the page, in this state. */
struct slot *page_hold(struct slots *slots, uint32_t i, const char *queue, const char *id,
                       enum slot_state state, double lease);

/* The same under another token. */
struct slot *page_hold_by(struct slots *slots, uint32_t i, const char *queue, const char *id,
                          const char *token, enum slot_state state, double lease);

/* Like page_hold() for a job that has run: FINISHED, to be settled so. */
struct slot *page_finished(struct slots *slots, uint32_t i, const char *queue, const char *id,
                           enum later_ending ending, bool last, double wait, const char *text);

/* Unmaps a page. */
void page_free(struct slots *slots);

/* Unmaps and removes all pages that were made. */
void page_free_all(void);

#endif
