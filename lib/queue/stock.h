/*
 * stock.h: a limited stock: claim one of N, once per claimant, never more than N; and limits: may
 * this happen now? Encoders and decoders like queue.h; keys are not a queue's.
 */
#ifndef LATER_STOCK_H
#define LATER_STOCK_H

#include "redis/command.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stdint.h>

/* item, who: valid names (later_key_name_valid). */
void later_stock_set(struct later_command *cmd, const char *prefix, const char *item,
                     uint64_t total);
void later_stock_take(struct later_command *cmd, const char *prefix, const char *item,
                      const char *who);
void later_stock_give_back(struct later_command *cmd, const char *prefix, const char *item,
                           const char *who);
void later_stock_look(struct later_command *cmd, const char *prefix, const char *item);

enum later_stock_taken { LATER_STOCK_TAKEN = 1, LATER_STOCK_HELD = 0, LATER_STOCK_SOLD_OUT = -1 };

/* Reads how a claim went; *number gets the claim's number, from 1 (unchanged if sold out). */
enum later_stock_taken later_stock_taken(const struct later_reply *reply, uint64_t *number);

/* At most `max` in `per` seconds. sliding: in any span of that length; else in a window that opens
 * with the first. */
void later_limit_ask(struct later_command *cmd, const char *prefix, const char *name, uint32_t max,
                     double per, bool sliding);

/* Returns the seconds until it may happen; 0: now, and it was counted. */
double later_limit_wait(const struct later_reply *reply);

#endif
