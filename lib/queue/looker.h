/*
 * looker.h: of the hosts that serve the same queues a few look after them. Encoder and decoder like
 * queue.h; the key is not a queue's. A post ends by itself unless its host asks again.
 */
#ifndef LATER_LOOKER_H
#define LATER_LOOKER_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stdint.h>

#define LATER_LOOKERS 3 /* posts: with two of them gone, nothing is late */

struct later_looker {
    bool looks;
    double now;      /* Redis's clock */
    uint32_t others; /* hosts that wait for a post */
};

/* May `host` (1 … 320 bytes) look after the queues of this name (later_key_name_valid)? A post is
 * its own for so many seconds from now (at most 60); 0 gives it up. LATER_SCRIPT_LOOKER. */
void later_looker_ask(struct later_command *cmd, const char *prefix, const char *name,
                      const char *host, double seconds);
void later_looker_told(const struct later_reply *reply, struct later_looker *looker);

#endif
