/*
 * inspect.h: looking at a queue and acting on many of its jobs: encoders and decoders like queue.h.
 */
#ifndef LATER_INSPECT_H
#define LATER_INSPECT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"
#include "redis/script.h"
#include "queue/shards.h"

#include <stdint.h>

/* --- size --- */

/* The counters of `stats`; the order is that of their names in inspect.c. What else is in `stats`
 * is passed over. */
enum later_counter {
    LATER_COUNT_PUSHED,
    LATER_COUNT_ADOPTED,
    LATER_COUNT_DONE,
    LATER_COUNT_EXPIRED,
    LATER_COUNT_CANCELLED,
    LATER_COUNT_PURGED,
    LATER_COUNT_TRIMMED,
    LATER_CONSERVED, /* those before are what conservation needs */
    LATER_COUNT_DUPLICATE = LATER_CONSERVED,
    LATER_COUNT_REPLACED,
    LATER_COUNT_RELEASED,
    LATER_COUNT_RETURNED,
    LATER_COUNT_BURIED,
    LATER_COUNT_KICKED,
    LATER_COUNT_LAPSED,
    LATER_COUNT_REFUSED,
    LATER_COUNTED, /* those before are for people; the others say how many jobs are reserved */
    LATER_COUNT_RESERVED = LATER_COUNTED,
    LATER_COUNT_WITHDRAWN,
    LATER_COUNT_BURIED_WAITING,
    LATER_COUNTERS
};

/* A queue at one moment. */
struct later_sizes {
    uint64_t ready, delayed, reserved, dead;
    uint64_t jobs; /* documents */
    bool paused;
    double oldest_ready; /* age in seconds; < 0 = none */
    uint64_t overdue;    /* reservations whose lease ran out and that nobody has returned yet */
    uint64_t counters[LATER_COUNTERS];
};

void later_inspect_size(struct later_command *cmd, const struct later_keys *keys);
void later_inspect_sized(const struct later_reply *reply, struct later_sizes *sizes);

/* The counters alone: names and numbers from element `at` of a reply on. */
void later_inspect_counted(const struct later_reply *reply, size_t at, struct later_sizes *sizes);

/* A score as Redis spells it, which has some that no clock has: inf, -inf. */
double later_inspect_score(const struct later_reply *reply);

/* The plan of shards in such a reply; of a shard it is none. */
struct later_plan later_inspect_planned(const struct later_reply *reply);

/* "pushed" … Static. */
const char *later_counter_name(enum later_counter counter);

/* How many jobs are in this set; 0 of done ones, which no size counts. */
uint64_t later_sizes_in(const struct later_sizes *sizes, enum later_key set);

/* --- peek, show --- */

/* One job seen. Strings are borrowed from the reply, and but for `error` NUL-terminated beyond
 * their length. */
struct later_seen {
    const char *id;       /* "" = not adopted yet; of show: NULL, the caller knows it */
    const char *state;    /* of show; "" = no such job. Of peek: NULL */
    const char *error;    /* a JSON object; "" = none */
    const char *earlier;  /* those before it, a JSON array as in a record; "" = none */
    const char *progress; /* a JSON object; "" = none */
    const char *finished; /* a JSON object; "" = it is not done */
    const char *document;
    size_t error_len, earlier_len, progress_len, finished_len, document_len;
    bool has_score;
    double score;
    uint32_t attempts;
    int32_t priority;
};

/* state: "ready", "delayed", "dead", "done", or "reserved": what `token` holds, in the order that
 * it had in ready. offset: of the first job, from 0. limit: at most so many, 1 … LATER_BATCH_MAX;
 * fewer may come, since documents are bounded too. */
void later_inspect_peek(struct later_command *cmd, const struct later_keys *keys, const char *state,
                        const char *token, uint64_t offset, size_t limit);
size_t later_inspect_peeked_count(const struct later_reply *reply);
void later_inspect_peeked(const struct later_reply *reply, size_t i, struct later_seen *seen);

/* Job i of what later_queue_ids(…, LATER_SCRIPT_SHOW, …) answered. */
void later_inspect_shown(const struct later_reply *reply, size_t i, struct later_seen *seen);

/* --- purge, pause, resume, wake --- */

/* Drops the first `limit` (1 … LATER_BATCH_MAX) jobs of "ready", "delayed", "dead" or "done"; the
 * reply is how many there were. */
void later_inspect_purge(struct later_command *cmd, const struct later_keys *keys,
                         const char *state, size_t limit);

/* Kicks, buries, cancels or purges (`verb`) jobs that are still where they were seen: in `state`,
 * reserved ones under `token` (else ""), with the score that Redis spelled ("": whatever it is by
 * now). error: why they are buried, from later_queue_error(); else "". The reply is how many there
 * were. LATER_SCRIPT_ACT. */
struct later_acted {
    const char *id; /* or the member that is its own document */
    size_t len;
    const char *score;
};
void later_inspect_act(struct later_command *cmd, const struct later_keys *keys, const char *verb,
                       const char *state, const char *token, const char *error,
                       const struct later_acted *jobs, size_t count);

/* A script of a queue without arguments: LATER_SCRIPT_PAUSE, _RESUME, _WAKE. */
void later_inspect_plain(struct later_command *cmd, const struct later_keys *keys,
                         enum later_script script);

/* --- plain commands --- */

/* A pause that ends by itself after so many seconds (at least 0.001). The reply is nil where the
 * queue was not paused before. */
void later_inspect_pause(struct later_command *cmd, const struct later_keys *keys, double seconds);

/* The members from a score on ("-inf", or what Redis has spelled), the first `offset` of them left
 * out, at most count: each with its score behind it. */
void later_inspect_from(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *score, uint64_t offset, size_t count);

/* The same from a score ("+inf") downwards. */
void later_inspect_back(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *score, uint64_t offset, size_t count);

/* ZSCAN or, of jobs and records, HSCAN: one page. cursor: "0" at first, then what the last page
 * said, until that is "0" again. match: a glob, NULL = all. How many elements there are: ZCARD or
 * HLEN. */
void later_inspect_count(struct later_command *cmd, const struct later_keys *keys,
                         enum later_key key);
void later_inspect_scan(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *cursor, const char *match);

/* The next cursor into `cursor` (32 bytes); the members are elements 0, 2, 4 … of the returned
 * array, what they have (score, value) the others. */
const struct later_reply *later_inspect_scanned(const struct later_reply *reply, char cursor[32]);

/* `ZMSCORE key member…`, for what the caller adds; and `HEXISTS key id`, of jobs or records. */
void later_inspect_scores(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, size_t count);
void later_inspect_exists(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, const char *id, size_t len);

/* The second element of the wake list, which has one at most: nil. */
void later_inspect_second_wake(struct later_command *cmd, const struct later_keys *keys);

/* `SCAN` for the keys of queues, of one node: one page, read by later_inspect_scanned(), where each
 * element is a key. */
void later_inspect_names(struct later_command *cmd, const char *prefix, const char *cursor);

/* How many jobs push lets into the queue (`max_jobs` of `stats`): HSET, or HDEL where `jobs` is 0.
 */
void later_inspect_limit(struct later_command *cmd, const struct later_keys *keys, uint64_t jobs);

/* In which of ready, delayed, dead, what the token holds, jobs an id is: the reply has 1 or 0 for
 * each. LATER_SCRIPT_LOCATE. */
void later_inspect_locate(struct later_command *cmd, const struct later_keys *keys, const char *id,
                          const char *token);

/* All ids that a token holds (ZRANGE); whether it holds this one (ZSCORE: nil if not). */
void later_inspect_held(struct later_command *cmd, const struct later_keys *keys,
                        const char *token);
void later_inspect_member(struct later_command *cmd, const struct later_keys *keys,
                          const char *token, const char *id);

/* BLPOP on the wake keys of some queues, for at most `seconds`. The reply is nil when none came;
 * else its element 0 is the key. */
void later_inspect_wait(struct later_command *cmd, const struct later_keys *const *queues,
                        size_t count, double seconds);

/* All queues' names, all hosts (field, value, …), Redis's clock (seconds, microseconds). */
void later_inspect_queues(struct later_command *cmd, const char *prefix);
void later_inspect_hosts(struct later_command *cmd, const char *prefix);

/* A queue leaves the set of names; its plan of shards, or a shard's fence, is deleted. The replies
 * are whether it was there. */
void later_inspect_unlist(struct later_command *cmd, const char *prefix, const char *queue);
void later_inspect_unplan(struct later_command *cmd, const struct later_keys *keys);

void later_inspect_time(struct later_command *cmd);
double later_inspect_timed(const struct later_reply *reply);

/* `HMGET` of jobs, records or kept, for the ids that the caller adds. */
void later_inspect_fields(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, size_t count);

/* A job as a page of its set (later_inspect_from()) and those fields tell it; what is nil is "". */
void later_inspect_found(const struct later_reply *score, const struct later_reply *record,
                         const struct later_reply *document, struct later_seen *seen);

/* Likewise of one that is done: its field of kept has record and document (scripts/inc/done.lua).
 */
void later_inspect_kept(const struct later_reply *score, const struct later_reply *kept,
                        struct later_seen *seen);

/* `INFO cpu`: the seconds for which this Redis has worked, itself and for the kernel; < 0 where it
 * does not say. */
void later_inspect_cpu(struct later_command *cmd);
double later_inspect_worked(const struct later_reply *reply);

/* `INFO server`: the seconds since this Redis was started; a very long time where it does not say.
 */
void later_inspect_server(struct later_command *cmd);
double later_inspect_uptime(const struct later_reply *reply);

#endif
