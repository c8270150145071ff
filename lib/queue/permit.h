/*
 * permit.h: permits: at most so many jobs of a kind run at once, on all hosts. Encoders and
 * decoders like queue.h; the key is not a queue's. A permit is one token's, and ends by itself
 * after ttl seconds by Redis's clock unless it is renewed. Also what jobs need that wait for a
 * permit or a lock.
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

/* 0: it has a permit; else the seconds after which one is free at the latest, where its holder is
 * gone. */
double later_permit_wait(const struct later_reply *reply);

/* Keeps the permits of up to LATER_BATCH_MAX tokens for ttl seconds from now.
 * LATER_SCRIPT_PLACE_TOUCH. The answer is for later_queue_lost(). */
void later_permit_touch(struct later_command *cmd, const char *prefix, const char *name, double ttl,
                        const char *const *tokens, size_t count);

/* Gives permits back; those that are none do no harm. LATER_SCRIPT_PERMIT_FREE. */
void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *const *tokens, size_t count);

/* A job (queue, a space, id) has gone into `delayed` for `wait` seconds, since it waits for the
 * lock or for one of `max` permits; waiter is "" where none has. Which jobs come next? They are out
 * of the line then. LATER_SCRIPT_LOCK_LINE or LATER_SCRIPT_PERMIT_LINE. */
void later_permit_line(struct later_command *cmd, const char *prefix, bool lock, const char *name,
                       uint32_t max, double wait, const char *waiter);

/* Of its answer: how many wait; how many are called, and the i-th of them, borrowed, with the time
 * at which it is due. */
size_t later_permit_waiting(const struct later_reply *reply);
size_t later_permit_called(const struct later_reply *reply);
const char *later_permit_next(const struct later_reply *reply, size_t i, double *due);

/* Has a job due now that is in `delayed` until `due`. The answer is 0 where it is not, or waits for
 * something else. LATER_SCRIPT_HASTEN. */
void later_permit_hasten(struct later_command *cmd, const struct later_keys *keys, double due,
                         const char *id);

#endif
