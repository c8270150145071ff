/*
 * lost.h: what is known of writes that Redis has lost: encoders and decoders like queue.h.
 *
 * The counters of a queue only grow. A laterd that sees them go back notes it in later:lost, for a
 * day, where `later check` finds it. Who forgets a queue on purpose says so in later:forgotten.
 */
#ifndef LATER_LOST_H
#define LATER_LOST_H

#include "queue/inspect.h"

/* --- sums of counters that only grow: how many jobs came, were handed out, and ended --- */

enum later_sum { LATER_SUM_PUSHED, LATER_SUM_RESERVED, LATER_SUM_ENDED, LATER_SUMS };

struct later_sums {
    uint64_t of[LATER_SUMS];
};

/* HGETALL of stats, and its answer. */
void later_lost_ask(struct later_command *cmd, const struct later_keys *keys);
void later_lost_summed(const struct later_reply *reply, struct later_sums *sums);

/* Returns the first sum that has gone back; LATER_SUMS: none. */
enum later_sum later_lost_back(const struct later_sums *before, const struct later_sums *after);

/* "pushed" …; "pushed", "handed out" …. Static. */
const char *later_sum_name(enum later_sum sum);
const char *later_sum_words(enum later_sum sum);

/* --- later:lost: a loss of a queue or shard, the last one --- */

#define LATER_LOST_SECONDS 86400 /* until it is forgotten */

struct later_lost {
    char queue[LATER_QUEUE_MAX + 1];
    enum later_sum sum;
    uint64_t before, after;
    double at;      /* when it was noticed, by Redis's clock */
    char host[256]; /* who noticed it */
};

/* HSET and PEXPIRE; HGETALL; DEL. */
void later_lost_note(struct later_command *cmd, const char *prefix, const struct later_lost *lost);
void later_lost_keep(struct later_command *cmd, const char *prefix);
void later_lost_look(struct later_command *cmd, const char *prefix);
void later_lost_drop(struct later_command *cmd, const char *prefix);

/* Reads the loss in elements 2i and 2i + 1 of the answer to the look. Returns whether it is one. */
bool later_lost_read(const struct later_reply *reply, size_t i, struct later_lost *lost);

/* Reads all of them: returns how many there are, the last in *last. */
int64_t later_lost_newest(const struct later_reply *reply, struct later_lost *last);

/* --- later:forgotten: queue → when --- */

#define LATER_FORGOTTEN_MAX     1000    /* names */
#define LATER_FORGOTTEN_SECONDS 2592000 /* 30 days */

/* Say before it is done that a queue is forgotten now, by Redis's clock (ZADD); then keep only the
 * last names (ZREMRANGEBYRANK), and those for a time (PEXPIRE). */
void later_forgotten_note(struct later_command *cmd, const char *prefix, const char *queue,
                          double now);
void later_forgotten_bound(struct later_command *cmd, const char *prefix);
void later_forgotten_keep(struct later_command *cmd, const char *prefix);

/* ZMSCORE; the caller adds `count` names. The answer has nil or a time for each
 * (later_reply_seconds()). */
void later_forgotten_ask(struct later_command *cmd, const char *prefix, size_t count);

#endif
