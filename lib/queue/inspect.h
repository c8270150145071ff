/*
 * inspect.h: looks at a queue and acts on many of its jobs: encoders and decoders like queue.h.
 */
#ifndef LATER_INSPECT_H
#define LATER_INSPECT_H

#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"
#include "redis/script.h"
#include "job/record.h"
#include "queue/shards.h"

#include <stdint.h>

/* --- size --- */

/* The counters of `stats`, in the order of their names in inspect.c. Anything else in `stats` is
 * skipped. */
enum later_counter {
    LATER_COUNT_PUSHED,
    LATER_COUNT_ADOPTED,
    LATER_COUNT_DONE,
    LATER_COUNT_EXPIRED,
    LATER_COUNT_CANCELLED,
    LATER_COUNT_PURGED,
    LATER_COUNT_TRIMMED,
    LATER_COUNT_MOVED,
    LATER_CONSERVED, /* the sums of `later check` need those before */
    LATER_COUNT_DUPLICATE = LATER_CONSERVED,
    LATER_COUNT_REPLACED,
    LATER_COUNT_RELEASED,
    LATER_COUNT_RETURNED,
    LATER_COUNT_BURIED,
    LATER_COUNT_KICKED,
    LATER_COUNT_LAPSED,
    LATER_COUNT_REFUSED,
    LATER_COUNTED, /* those before are for people; those after it say how many jobs are reserved */
    LATER_COUNT_RESERVED = LATER_COUNTED,
    LATER_COUNT_WITHDRAWN,
    LATER_COUNT_BURIED_WAITING,
    LATER_COUNT_OVERRIDES, /* how many overrides there may be (override.h); it goes down, too */
    LATER_COUNT_NEWS,      /* the number of the last news of flows; 0: never any */
    LATER_COUNTERS
};

/* A queue at one moment. */
struct later_sizes {
    uint64_t ready, delayed, reserved, dead, waiting;
    uint64_t jobs;     /* documents */
    uint64_t news;     /* of flows, not moved yet; */
    uint64_t news_age; /* for how many seconds the first of them */
    bool paused;
    double oldest_ready; /* age in seconds; < 0 = none */
    uint64_t overdue;    /* reservations whose lease ran out and that have not lapsed yet */
    uint64_t counters[LATER_COUNTERS];
};

void later_inspect_size(struct later_command *cmd, const struct later_keys *keys);
void later_inspect_sized(const struct later_reply *reply, struct later_sizes *sizes);

/* Reads only the counters: names and numbers from element `at` of a reply on. */
void later_inspect_counted(const struct later_reply *reply, size_t at, struct later_sizes *sizes);

/* Reads a score as Redis writes it, also inf and -inf, which no time has. */
double later_inspect_score(const struct later_reply *reply);

/* Reads the plan of shards in such a reply; a shard has none. */
struct later_plan later_inspect_planned(const struct later_reply *reply);

/* "pushed" … Static. */
const char *later_counter_name(enum later_counter counter);

/* Returns how many jobs are in this set; 0 for done ones, which the sizes do not count. */
uint64_t later_sizes_in(const struct later_sizes *sizes, enum later_key set);

/* --- peek, show --- */

/* One job as seen. Strings are borrowed from the reply; all but those of the record are
 * NUL-terminated beyond their length. */
struct later_seen {
    const char *id;    /* "" = not adopted yet; NULL from show, whose caller knows it */
    const char *state; /* from show; "" = no such job. NULL from peek */
    const char *document;
    size_t document_len;
    bool has_score;
    double score;
    struct later_record record;
};

/* state: "ready", "delayed", "dead", "waiting", "done", or "reserved": what `token` holds, in the
 * order that it had in ready. offset: of the first job, from 0. limit: at most this many, 1 …
 * LATER_BATCH_MAX; fewer may come, since documents are bounded too. */
void later_inspect_peek(struct later_command *cmd, const struct later_keys *keys, const char *state,
                        const char *token, uint64_t offset, size_t limit);
size_t later_inspect_peeked_count(const struct later_reply *reply);
void later_inspect_peeked(const struct later_reply *reply, size_t i, struct later_seen *seen);

/* Reads the first job of the answer to later_queue_ids(…, LATER_SCRIPT_SHOW, …). */
void later_inspect_shown(const struct later_reply *reply, struct later_seen *seen);

/* --- edit, reschedule, act, pause, resume, wake --- */

/* Gives a job that does not run the document `made`, if it still has the one that was `seen`. The
 * reply is the state it is in; "reserved", "changed" or "": nothing was done. LATER_SCRIPT_EDIT. */
void later_inspect_edit(struct later_command *cmd, const struct later_keys *keys, const char *id,
                        const char *seen, size_t seen_len, const char *made, size_t made_len);

/* When a ready or delayed job is due from now on, and with which priority. */
struct later_rescheduled {
    bool moves; /* due `at` these UNIX seconds, or, if that is 0, `in` so many */
    bool ranks; /* this priority, -100 to 100 */
    double at, in;
    int64_t priority;
};

/* The reply is the state that the job had; "reserved", "dead", "waiting" or "": nothing was done.
 * LATER_SCRIPT_RESCHEDULE. */
void later_inspect_reschedule(struct later_command *cmd, const struct later_keys *keys,
                              const char *id, const struct later_rescheduled *to);

/* Kicks, buries, cancels or moves (`verb`) jobs that are still where they were seen: in `state`,
 * reserved ones under `token` (else ""), with the score that Redis wrote ("": any score). with:
 * why they are buried, from later_queue_error(); the queue into which they are moved, at most
 * LATER_MOVE_MAX; else "". The reply is how many there were. LATER_SCRIPT_ACT. */
#define LATER_MOVE_MAX 20

struct later_acted {
    const char *id; /* the id, or a member that is its own document */
    size_t len;
    const char *score;
};
void later_inspect_act(struct later_command *cmd, const struct later_keys *keys, const char *verb,
                       const char *state, const char *token, const char *with,
                       const struct later_acted *jobs, size_t count);

/* Encodes a script of a queue without arguments: LATER_SCRIPT_RESUME, also of a host
 * (later_keys_of_host()), _WAKE; _PAUSE until resume. */
void later_inspect_plain(struct later_command *cmd, const struct later_keys *keys,
                         enum later_script script);

/* Encodes a pause that ends by itself after this many seconds (at least 0.001); 0: only by resume.
 * who: for people, who pauses, printable without a space; "" = not said.
 * The reply is 0 if the queue was paused without an end before, and is so still; else 1. */
void later_inspect_pause(struct later_command *cmd, const struct later_keys *keys, double seconds,
                         const char *who);

/* What is known of a pause: UNIX seconds, 0 = not known; until is 0 if only resume ends it. All is
 * 0 and "" if somebody made the key by hand. */
struct later_pause {
    double since, until;
    char who[65];
};

/* GET of its key; reads the answer. Returns whether the queue is paused. */
void later_inspect_why_paused(struct later_command *cmd, const struct later_keys *keys);
bool later_inspect_paused(const struct later_reply *reply, struct later_pause *pause);

/* --- plain commands --- */

/* The members from a score on ("-inf", or one that Redis has written), without the first `offset`,
 * at most count; each is followed by its score. */
void later_inspect_from(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *score, uint64_t offset, size_t count);

/* The same from a score ("+inf") downwards. */
void later_inspect_back(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *score, uint64_t offset, size_t count);

/* Encode ZSCAN or, for jobs, records and fair, HSCAN: one page. cursor: "0" at first, then the one
 * that the last page returned, until it is "0" again. The other: ZCARD or HLEN. */
void later_inspect_count(struct later_command *cmd, const struct later_keys *keys,
                         enum later_key key);
void later_inspect_scan(struct later_command *cmd, const struct later_keys *keys,
                        enum later_key key, const char *cursor);

/* Reads the next cursor into `cursor` (32 bytes). In the returned array elements 0, 2, 4 … are the
 * members, the others their scores or values. */
const struct later_reply *later_inspect_scanned(const struct later_reply *reply, char cursor[32]);

/* Encode `ZMSCORE key member…`, for members that the caller adds, and `HEXISTS jobs id`. */
void later_inspect_scores(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, size_t count);
void later_inspect_exists(struct later_command *cmd, const struct later_keys *keys, const char *id,
                          size_t len);

/* Asks for the second element of the wake list. It should be nil, since the list has at most one.
 */
void later_inspect_second_wake(struct later_command *cmd, const struct later_keys *keys);

/* `SCAN` for the keys of queues, of one node: one page, read by later_inspect_scanned(), where each
 * element is a key. */
void later_inspect_names(struct later_command *cmd, const char *prefix, const char *cursor);

/* Sets how many jobs push lets into the queue (`max_jobs` of `stats`): HSET, or HDEL if `jobs` is
 * 0. */
void later_inspect_limit(struct later_command *cmd, const struct later_keys *keys, uint64_t jobs);

/* Sets the weights of `count` groups of the queue, at least one: HSET. The other forgets them: DEL.
 */
void later_inspect_weights(struct later_command *cmd, const struct later_keys *keys,
                           const char *const *groups, const double *weights, size_t count);
void later_inspect_weightless(struct later_command *cmd, const struct later_keys *keys);

/* Asks which of ready, delayed, dead, the token's set, waiting and jobs have an id; the reply has 1
 * or 0 for each. LATER_SCRIPT_LOCATE. */
void later_inspect_locate(struct later_command *cmd, const struct later_keys *keys, const char *id,
                          const char *token);

/* Ask for all ids that a token holds (ZRANGE); the same, each followed by its score in ready;
 * whether it holds this one (ZSCORE: nil if not). */
void later_inspect_held(struct later_command *cmd, const struct later_keys *keys,
                        const char *token);
void later_inspect_held_scores(struct later_command *cmd, const struct later_keys *keys,
                               const char *token);
void later_inspect_member(struct later_command *cmd, const struct later_keys *keys,
                          const char *token, const char *id);

/* Encodes BLPOP on the wake keys of some queues, for at most `seconds`. The reply is nil if none
 * came; else its element 0 is the key. */
void later_inspect_wait(struct later_command *cmd, const struct later_keys *const *queues,
                        size_t count, double seconds);

/* Ask for all queues' names; all hosts (field, value, …); Redis's clock (seconds, microseconds). */
void later_inspect_queues(struct later_command *cmd, const char *prefix);
void later_inspect_hosts(struct later_command *cmd, const char *prefix);

/* Removes a queue from the set of names; deletes its plan of shards, or a shard's fence. The
 * replies say whether it was there. */
void later_inspect_unlist(struct later_command *cmd, const char *prefix, const char *queue);
void later_inspect_unplan(struct later_command *cmd, const struct later_keys *keys);

void later_inspect_time(struct later_command *cmd);
double later_inspect_timed(const struct later_reply *reply);

/* `HMGET` of jobs, records or kept, for the ids that the caller adds. */
void later_inspect_fields(struct later_command *cmd, const struct later_keys *keys,
                          enum later_key key, size_t count);

/* Puts a job together from a page of its set (later_inspect_from()) and those fields; what is nil
 * is "". */
void later_inspect_found(const struct later_reply *score, const struct later_reply *record,
                         const struct later_reply *document, struct later_seen *seen);

/* The same for a done job: its field of kept has record and document (scripts/inc/done.lua). */
void later_inspect_kept(const struct later_reply *score, const struct later_reply *kept,
                        struct later_seen *seen);

/* Find what comes after `field`, a name with its colon, in the answer to INFO: NULL if it is not
 * there; as a number, whatever the locale, or `otherwise`. */
const char *later_inspect_field(const struct later_reply *reply, const char *field);
double later_inspect_number(const struct later_reply *reply, const char *field, double otherwise);

/* Ask `INFO`, and read how full this Redis is, and whether it can write to its disk; all is 0 and
 * NULL if it does not say. */
void later_inspect_state(struct later_command *cmd);
struct later_redis_state {
    double used, most; /* bytes of memory; most: 0 = no limit */
    const char *disk;  /* which write to its disk failed; NULL: none. Static */
};
void later_inspect_stated(const struct later_reply *reply, struct later_redis_state *state);

/* Ask `INFO cpu`, and read how many seconds of CPU time this Redis has used, in user and system
 * mode; < 0 if it does not say. */
void later_inspect_cpu(struct later_command *cmd);
double later_inspect_worked(const struct later_reply *reply);

/* Ask `INFO server`, and read how many seconds ago this Redis was started; a very long time if it
 * does not say. */
void later_inspect_server(struct later_command *cmd);
double later_inspect_uptime(const struct later_reply *reply);

#endif
