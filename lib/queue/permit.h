/*
 * permit.h: permits limit how many jobs of a kind run at once on all hosts. Encoders and decoders
 * like queue.h; the key is not a queue's. A permit belongs to one token, and ends by itself after
 * ttl seconds by Redis's clock unless it is renewed. Who waits for a permit: line.h.
 */
#ifndef LATER_PERMIT_H
#define LATER_PERMIT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name: valid (later_key_name_valid). token: later_token(). waiter: the job (queue, a space, id),
 * which goes after those that are in the line before it. LATER_SCRIPT_PERMIT_TAKE. */
void later_permit_take(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token, uint32_t max, double ttl, const char *waiter);

/* Has it a permit? *behind: it has none, but is in the line, and so many came after it; -1: it is
 * not in the line. */
bool later_permit_taken(const struct later_reply *reply, int64_t *behind);

/* Keeps the permits of up to LATER_BATCH_MAX tokens for ttl seconds from now.
 * LATER_SCRIPT_PERMIT_TOUCH. Read the answer by later_queue_lost(). */
void later_permit_touch(struct later_command *cmd, const char *prefix, const char *name, double ttl,
                        const char *const *tokens, size_t count);

/* Gives a permit back; a token without one does no harm. LATER_SCRIPT_PERMIT_FREE. */
void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token);

#endif
