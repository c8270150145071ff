/*
 * override.h: what an operator lays over the configuration of a queue at run time. Encoders and
 * decoders like queue.h. Redis has it in `overrides` of the queue, and of each of its shards;
 * laterds that serve the queue are told by the channel of that name.
 *
 * That is the pause of a type: none of its jobs is begun (LATER_OVERRIDE_TYPE and the type). Other
 * numbers for a limit or for permits span queues, so they are laid over later_keys_of_limits():
 * LATER_OVERRIDE_LIMIT or LATER_OVERRIDE_PERMIT and the name. A name that ends in : or = is for all
 * that begin so.
 */
#ifndef LATER_OVERRIDE_H
#define LATER_OVERRIDE_H

#include "job/document.h"
#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stddef.h>

#define LATER_OVERRIDE_TYPE   "type:"
#define LATER_OVERRIDE_LIMIT  "limit:"
#define LATER_OVERRIDE_PERMIT "permit:"
#define LATER_OVERRIDES_MAX   64 /* of a queue */
#define LATER_OVERRIDE_NAME   (sizeof LATER_OVERRIDE_PERMIT + LATER_LOCK_MAX)
#define LATER_OVERRIDE_WORDS  200

/* One of them. Times are UNIX seconds by Redis's clock; until is 0 if it lasts until somebody ends
 * it. */
struct later_override {
    char name[LATER_OVERRIDE_NAME];
    double since, until;
    char who[65];                         /* "": nobody is named */
    char words[LATER_OVERRIDE_WORDS + 1]; /* why, "": not said; or the numbers */
};

/* Is it a type, or the beginning of types with a `*` after it, that can be paused? */
bool later_override_type_valid(const char *type);

/* The type that it pauses; NULL: it does something else. */
const char *later_override_type(const struct later_override *override);
/* The same of a name, of which it is a part. */
const char *later_override_named(const char *name);

/* Lays it over the queue: the pause of a type. seconds: it ends by itself after these, at least
 * 0.001; 0: it lasts. who, words: as in struct later_override. The reply is 0 if it was so before.
 * LATER_SCRIPT_OVERRIDE. */
void later_override_pause(struct later_command *cmd, const struct later_keys *keys,
                          const char *type, double seconds, const char *who, const char *words);

/* The numbers that hold instead of the configured ones. */
struct later_numbers {
    uint32_t max; /* 1 … 1000000 */
    double per;   /* of a limit: seconds; 0: as configured */
};

/* The same for these numbers; name: with its kind. Laid over later_keys_of_limits(). */
void later_override_set(struct later_command *cmd, const struct later_keys *keys, const char *name,
                        const struct later_numbers *numbers, double seconds, const char *who);
void later_override_unset(struct later_command *cmd, const struct later_keys *keys,
                          const char *name);

/* Reads `MAX PER`. False: it is something else. */
bool later_override_numbers(const char *words, struct later_numbers *numbers);

/* Is what is laid over `laid` for this limit (LATER_LINE_LIMIT) or these permits? 0: no; else how
 * much of the name it says: the most counts. */
size_t later_override_covers(const char *laid, enum later_line_for what, const char *name);

/* Ends it. The reply is 0 if it was over. */
void later_override_resume(struct later_command *cmd, const struct later_keys *keys,
                           const char *type);

/* HGETALL; reads the i-th of the answer, from 0. What has ended by `now`, or cannot be read, is
 * none: false. later_reply_count() / 2 are in the answer. */
void later_override_ask(struct later_command *cmd, const struct later_keys *keys);
bool later_override_read(const struct later_reply *reply, size_t i, double now,
                         struct later_override *override);

/* ZCARD: how many jobs the pause of this type has kept from running, and not brought back. */
void later_override_kept(struct later_command *cmd, const struct later_keys *keys,
                         const char *type);

/* What is laid over the queue, for those who serve it; it also drops what has ended, and brings
 * back the jobs that it has kept. LATER_SCRIPT_HEED. */
void later_override_heed(struct later_command *cmd, const struct later_keys *keys);

/* What one who serves it has to know. */
struct later_heeded {
    char name[LATER_OVERRIDE_NAME];
    struct later_numbers numbers; /* of a limit or of permits */
    double left;                  /* seconds; 0: it lasts */
};

/* Reads the i-th of the answer; false: there are no more. The other: is heed to be called again at
 * once? */
bool later_override_heeded(const struct later_reply *reply, size_t i, struct later_heeded *heeded);
bool later_override_more(const struct later_reply *reply);

#endif
