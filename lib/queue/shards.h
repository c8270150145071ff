/*
 * shards.h: one queue spread over several (pure).
 *
 * A queue Q of N shards is the queues `Q/0` … `Q/N-1`. Each has its own keys, and so its own slot
 * of a Cluster. An id's shard is CRC16(id) mod N. With one shard it is the plain queue Q. Programs
 * that know nothing of shards push there, and workers look there as well.
 *
 * The plan in `later:{Q}:shards`, `EPOCH COUNT FORMER…`, says how many there are. Ids are pushed
 * into COUNT shards. Jobs may still be where former counts put them, so an id is looked for there
 * first. doc/protocol.md, "Shards", says why an id is never in two of them.
 */
#ifndef LATER_SHARDS_H
#define LATER_SHARDS_H

#include "redis/key.h"

#include <stdint.h>

/* clang-format off */
/* @bounds shards_max: #define {constant} {number} /@ {help} @/ */
#define LATER_SHARDS_MAX 32 /* shards of a queue */
/* @end */
/* clang-format on */
#define LATER_COUNTS_MAX 8                      /* the present count and former ones */
#define LATER_WHOLE_MAX  (LATER_SHARDS_MAX + 1) /* queues that a whole queue consists of */
#define LATER_PLAN_SIZE  (24 + LATER_COUNTS_MAX * 4)

/* A plan. Zeroed, it is that of a queue without a plan: in the plain queue, epoch 0. */
struct later_plan {
    uint64_t epoch;
    uint32_t count;   /* 1 … LATER_SHARDS_MAX; 0 means 1 */
    uint32_t formers; /* how many there are */
    uint32_t former[LATER_COUNTS_MAX - 1];
};

/* A queue's name: `mail`, or `mail/3`. */
typedef char later_queue_name[LATER_QUEUE_MAX + 1];

/* Reads `EPOCH COUNT FORMER…`. If the text is missing or different, the plan is empty; numbers out
 * of range are left out. */
struct later_plan later_plan_parse(const char *text);

/* Writes the counts for the script reshard, after a change to `count`: it comes first, then the
 * previous count, each once. Returns false if there are too many already. */
bool later_plan_change(const struct later_plan *plan, uint32_t count, char text[LATER_PLAN_SIZE]);

/* Writes the counts without the last former one. */
void later_plan_drop(const struct later_plan *plan, char text[LATER_PLAN_SIZE]);

/* Returns the largest of the counts: shards 0 to this − 1 may have jobs. 1: only the plain queue.
 */
uint32_t later_plan_span(const struct later_plan *plan);

/* Finds the part into which an id is pushed, with `count` shards of a queue. */
void later_shard_of(later_queue_name out, const char *queue, uint32_t count, const char *id);

/* Finds the parts of an id: first those where it may be from former counts, last the one where it
 * is pushed. Returns how many; each comes once. */
size_t later_plan_route(const struct later_plan *plan, const char *queue, const char *id,
                        later_queue_name out[LATER_COUNTS_MAX]);

/* Lists the queues of a whole queue: first the plain one, then `span` shards if that is more than
 * 1. Returns how many. */
size_t later_shards_all(const char *queue, uint32_t span, later_queue_name out[LATER_WHOLE_MAX]);

/* Finds the whole queue of a shard: "mail" for "mail/3", and for "mail". */
void later_shard_whole(later_queue_name out, const char *name);

/* Does a Redis error say that our plan is too old? Then *plan is its text for later_plan_parse():
 * complete if it is from the plain queue, without counts if from a shard. */
bool later_shards_stale(const char *error, const char **plan);

#endif
