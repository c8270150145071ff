/*
 * permit.h: permits limit how many jobs of a kind run at once on all hosts. Encoders and decoders
 * like queue.h; the key is not a queue's. A permit belongs to one token, and ends by itself after
 * ttl seconds by Redis's clock unless it is renewed. Also the lines of jobs that wait for permits
 * or locks.
 */
#ifndef LATER_PERMIT_H
#define LATER_PERMIT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name: valid (later_key_name_valid). token: later_token(). LATER_SCRIPT_PERMIT_TAKE. */
void later_permit_take(struct later_command *cmd, const char *prefix, const char *name,
                       const char *token, uint32_t max, double ttl);

/* Returns 0 if it has a permit; else the seconds after which one is free at the latest, if its
 * holder is gone. */
double later_permit_wait(const struct later_reply *reply);

/* Keeps the permits of up to LATER_BATCH_MAX tokens for ttl seconds from now.
 * LATER_SCRIPT_PERMIT_TOUCH. Read the answer by later_queue_lost(). */
void later_permit_touch(struct later_command *cmd, const char *prefix, const char *name, double ttl,
                        const char *const *tokens, size_t count);

/* Gives permits back; tokens without one do no harm. LATER_SCRIPT_PERMIT_FREE. */
void later_permit_free(struct later_command *cmd, const char *prefix, const char *name,
                       const char *const *tokens, size_t count);

/* A job (waiter: queue, a space, id) has gone into `delayed` for `wait` seconds to wait for the
 * lock or for one of `max` permits; "" = none has. Asks which jobs come next, and takes them out of
 * the line. LATER_SCRIPT_LOCK_LINE or LATER_SCRIPT_PERMIT_LINE. */
void later_permit_line(struct later_command *cmd, const char *prefix, bool lock, const char *name,
                       uint32_t max, double wait, const char *waiter);

/* From its answer: how many wait; how many are called; the i-th of them, borrowed, with the time at
 * which it is due. */
size_t later_permit_waiting(const struct later_reply *reply);
size_t later_permit_called(const struct later_reply *reply);
const char *later_permit_next(const struct later_reply *reply, size_t i, double *due);

/* Makes a job due now that is in `delayed` until `due`. The answer is 0 if it is not there, or
 * waits for something else. LATER_SCRIPT_HASTEN. */
void later_permit_hasten(struct later_command *cmd, const struct later_keys *keys, double due,
                         const char *id);

#endif
