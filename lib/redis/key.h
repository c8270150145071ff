/*
 * key.h: the names of all Redis keys of laterd. They are made only here.
 *
 * All keys of a queue carry its name as hash tag, `later:{mail}:ready`, so that a queue is one
 * slot of a Redis Cluster (Redis Cluster specification, "Hash tags").
 */
#ifndef LATER_KEY_H
#define LATER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATER_QUEUE_MAX   64
#define LATER_SHARDED_MAX 61 /* for a queue with shards, whose names are longer */
#define LATER_PREFIX_MAX  32
#define LATER_KEY_MAX     512 /* longest key with its NUL */

/* The keys of a queue, in the order of their names in key.c. A test compares them with
 * doc/protocol.md. */
enum later_key {
    LATER_KEY_READY,
    LATER_KEY_DELAYED,
    LATER_KEY_RESERVED,
    LATER_KEY_DEAD,
    LATER_KEY_JOBS,
    LATER_KEY_RECORDS,
    LATER_KEY_UNIQUE,
    LATER_KEY_WAKE,
    LATER_KEY_PAUSED,
    LATER_KEY_STATS,
    LATER_KEY_SHARDS,
    LATER_KEY_TOTALS,
    LATER_KEY_CRON,
    LATER_KEY_CRONTAB,
    LATER_KEY_DONE,
    LATER_KEY_KEPT,
    LATER_KEY_WAITING,
    LATER_KEY_FLOWS,
    LATER_KEY_NEWS,
    LATER_KEY_AWAY,
    LATER_KEY_HEARD,
    LATER_KEY_FAIR,
    LATER_KEY_GROUPS,
    LATER_KEY_EVENTS,
    LATER_KEY_OVERRIDES, /* also a channel */
    LATER_KEY_DUE,       /* a channel */
    LATER_KEY_CANCELLED, /* a channel */
    LATER_KEY_COUNT
};

/* The keys of one queue under one prefix, made once. Plain data; may be copied. */
struct later_keys {
    char queue[LATER_QUEUE_MAX + 1];
    char name[LATER_KEY_COUNT][LATER_PREFIX_MAX + LATER_QUEUE_MAX + 16];
    size_t len[LATER_KEY_COUNT];
};

/* Is it `[A-Za-z0-9_.-]{1,64}`? */
bool later_key_queue_valid(const char *queue);

/* Is it a queue's name, or that of one of its shards, `mail/3`? */
bool later_key_shard_valid(const char *queue);

/* Is it `[A-Za-z0-9_.:-]{1,32}`? Braces would move the hash tag. */
bool later_key_prefix_valid(const char *prefix);

/* Is it a name for a stock, a lock, a limit or permits: 1 … 200 printable ASCII characters, no
 * space, no brace? */
bool later_key_name_valid(const char *name);

/* Makes the keys. prefix and queue must be valid. */
void later_keys_init(struct later_keys *keys, const char *prefix, const char *queue);

/* `later:{Q}:call:CALL` into out. Returns its length. CALL is at most 64 bytes. */
size_t later_key_call(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *call);

/* `later:{Q}:minute:NUMBER`, or with another word for `minute`: of history.h. Returns its length.
 */
size_t later_key_period(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *scale,
                        int64_t number);

/* `later:{Q}:reserved:TOKEN` into out. Returns its length. At most 64 bytes of TOKEN are used. */
size_t later_key_held(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *token);

/* `later:{Q}:aside:TYPE`: the jobs that the pause of a type keeps from running. Returns its length.
 */
size_t later_key_aside(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *type);

/* `later:{Q}:result:ID`: the result of a job. Returns its length. */
size_t later_key_result(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *id);

/* `later:{Q}:flow:F`, with `part` after it: "" or ":unknown". Returns its length. */
size_t later_key_flow(char out[LATER_KEY_MAX], const struct later_keys *keys, const char *flow,
                      const char *part);

/* `later:stock:{ITEM}` or, with claims, `later:stock:{ITEM}:claims`. Returns its length. */
size_t later_key_stock(char out[LATER_KEY_MAX], const char *prefix, const char *item, bool claims);

/* `later:limit:{NAME}`. Returns its length. */
size_t later_key_limit(char out[LATER_KEY_MAX], const char *prefix, const char *name);

/* `later:running:{NAME}`. Returns its length. */
size_t later_key_running(char out[LATER_KEY_MAX], const char *prefix, const char *name);

/* `later:lock:{NAME}:waiting`, `later:running:{NAME}:waiting` or `later:limit:{NAME}:waiting`; with
 * due, `…:due`. Returns its length. */
enum later_line_for { LATER_LINE_LOCK, LATER_LINE_PERMIT, LATER_LINE_LIMIT };
size_t later_key_line(char out[LATER_KEY_MAX], const char *prefix, enum later_line_for what,
                      const char *name, bool due);

/* `later:lock:{NAME}`, and with `:fence` or `:wake` after it. Returns its length. */
enum later_lock_key { LATER_LOCK_ITSELF, LATER_LOCK_FENCE, LATER_LOCK_WAKE };
size_t later_key_lock(char out[LATER_KEY_MAX], const char *prefix, const char *name,
                      enum later_lock_key which);

/* The keys of a host that may be paused as queues are: `later:{host:HOST}:paused`. No queue has
 * such a name. Returns false for a name that is too long or has other characters than a queue's. */
bool later_keys_of_host(struct later_keys *keys, const char *prefix, const char *host);

/* The keys of the name `limits:`, over which the numbers of limits and permits are laid, of
 * whatever queue (queue/override.h): `later:{limits:}:overrides`. No queue has it. */
#define LATER_KEY_LIMITS "limits:"
void later_keys_of_limits(struct later_keys *keys, const char *prefix);

/* `later:queues` (a set) and `later:hosts` (a hash). */
size_t later_key_queues(char out[LATER_KEY_MAX], const char *prefix);
size_t later_key_hosts(char out[LATER_KEY_MAX], const char *prefix);

/* `later:lookers:{NAME}`: queue/looker.h. Returns its length. */
size_t later_key_lookers(char out[LATER_KEY_MAX], const char *prefix, const char *name);

/* `later:lost` (a hash) and `later:forgotten` (a zset): queue/lost.h. */
size_t later_key_lost(char out[LATER_KEY_MAX], const char *prefix);
size_t later_key_forgotten(char out[LATER_KEY_MAX], const char *prefix);

/* `later:marks` (a zset): history/marks.h. */
size_t later_key_marks(char out[LATER_KEY_MAX], const char *prefix);

/* `later:searches` (a hash): those that are saved under a name (doc/protocol.md, "Saved searches").
 */
size_t later_key_searches(char out[LATER_KEY_MAX], const char *prefix);

/* `later:totals`: what is counted outside the queues (history.h). */
size_t later_key_totals(char out[LATER_KEY_MAX], const char *prefix);

/* `later:protocol`: the number of the protocol that the data in Redis follows. */
size_t later_key_protocol(char out[LATER_KEY_MAX], const char *prefix);

/* The number of our protocol. It grows when an older version could no longer work beside a newer
 * one. A laterd touches no data of another protocol. */
#define LATER_PROTOCOL 2

/* Is this text, read at `key`, the number of another protocol? Then `why` gets a message that says
 * so, and what to do. 0, and anything that is not a number, does not count. */
#define LATER_PROTOCOL_WHY 320
bool later_protocol_differs(const char *text, const char *key, char why[LATER_PROTOCOL_WHY]);

/* Writes what is between the braces of a key into out. Returns what follows them, "" or ":wake";
 * NULL: there are no braces, or out has no room. */
const char *later_key_tag(char *out, size_t size, const char *key);

/* Returns the name after the last colon: "ready". Static. */
const char *later_key_name(enum later_key key);

#endif
