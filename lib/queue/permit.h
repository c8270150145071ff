/*
 * permit.h: places: at most so many jobs of a kind run at once, on all hosts. Encoders and decoders
 * like queue.h; the key is not a queue's. A place is one token's, and ends by itself after ttl
 * seconds by Redis's clock unless it is renewed. Also what jobs need that wait for
 * a place or a lock.
 */
#ifndef LATER_PERMIT_H
#define LATER_PERMIT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name: valid (later_key_name_valid). token: later_token(). LATER_SCRIPT_PLACE_TAKE. */
void later_permit_take(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token, uint32_t max, double ttl);

/* 0: it has a place; else the seconds after which one is free at the latest, where its holder is
 * gone. */
double later_permit_wait(const struct later_reply *reply);

/* Keeps the places of up to LATER_BATCH_MAX tokens for ttl seconds from now.
 * LATER_SCRIPT_PLACE_TOUCH. The answer is for later_queue_lost(). */
void later_permit_touch(struct later_command *cmd, const char *prefix, const char *name, double ttl,
                        const char *const *tokens, size_t count);

/* Gives places back; those that are none do no harm. LATER_SCRIPT_PLACE_FREE. */
void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *const *tokens, size_t count);

/* Which job waits longest for a lock, or for a place? The answer is empty, or the text "QUEUE ID"
 * and when it is due. It is taken out of the list. LATER_SCRIPT_WAIT_NEXT. */
void later_permit_next(struct later_command *cmd, const char *prefix, bool lock, const char *name);

/* Has a delayed job due now, unless it is due after `latest` (UNIX seconds by Redis's clock): then
 * it waits for something else. LATER_SCRIPT_HASTEN. */
void later_permit_hasten(struct later_command *cmd, const struct later_keys *keys, double latest,
                         const char *id);

#endif
