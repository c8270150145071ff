/*
 * queue.h: the verbs on a queue, as pure encoders (arguments to command) and decoders (reply to
 * struct). No connection here, so that blocking and event-driven callers share them.
 *
 *     queue_push.c     push
 *     queue_reserve.c  reserve
 *     queue_settle.c   ack, expire, release, return, bury; touch and progress
 *     queue.c          migrate, lapse; kick, show, cancel
 *
 * Each encoder appends one complete script call to *cmd; send it with the verb's script number, so
 * that NOSCRIPT is survived. The scripts' heads (scripts/VERB.lua) say what each does.
 */
#ifndef LATER_QUEUE_H
#define LATER_QUEUE_H

#include "job/ending.h"
#include "job/push_item.h"
#include "later/client.h"
#include "redis/command.h"
#include "redis/key.h"
#include "redis/reply.h"
#include "redis/script.h"

#include <stdint.h>

#define LATER_TOKEN_LEN     16
#define LATER_RESERVE_BYTES 262144 /* documents in one reserve, unless the first alone is more */
/* The same if they do not pass through Lua. With a quarter of it jobs of 4 to 64 KiB take 1.3 times
 * as long, since fewer share a call; with twice as much the worker's cache is of less use. */
#define LATER_BESIDE_BYTES 2097152

/* Makes a token: 16 of [0-9a-z], unpredictable (getrandom), with its NUL. */
void later_token(char token[LATER_TOKEN_LEN + 1]);

/* --- push --- */

/* REPLACE: a known id that is ready or delayed is replaced. SEEK: an unknown one is LATER_IS_ABSENT
 * and not pushed. AGAIN: as REPLACE; but if the known one is reserved, this one (the last, if
 * several come) is pushed when that one ends: LATER_IS_AGAIN. */
enum { LATER_PUSH_REPLACE = 1, LATER_PUSH_SEEK = 2, LATER_PUSH_AGAIN = 4 };

/* Which of these a job asks for: REPLACE, AGAIN or neither. All jobs of a call ask for the same. */
unsigned later_queue_flags(const struct later_push_item *item);

/* Encodes its priority, for how long its id stays taken, and its group, as push and flow_push take
 * them. */
void later_queue_add_priority(struct later_command *cmd, const struct later_push_item *item);

/* call: the id of this call, new for each, so that repeating it after a lost reply changes nothing;
 * NULL = none. epoch: of the queue's plan of shards (shards.h), 0 if none is known. */
void later_queue_push(struct later_command *cmd, const struct later_keys *keys, const char *call,
                      unsigned flags, uint64_t epoch, const struct later_push_item *items,
                      size_t count);

/* May later_queue_push_now() be tried: does the job ask for nothing but to be pushed? */
bool later_queue_plain(const struct later_push_item *item);

/* Pushes such a job by a shorter script. Its answer is for later_queue_pushed(), unless it asks for
 * later_queue_push(), with a call of its own: nothing was done. number: of this call, new for each
 * (later_document_chance()), so that Redis knows a repetition; it is kept in `set`, which has the
 * name of a call (later_call_number()). */
void later_queue_push_now(struct later_command *cmd, const struct later_keys *keys, const char *set,
                          const char *number, uint64_t epoch, const struct later_push_item *item);
bool later_queue_asks(const struct later_reply *reply);

/* Outcomes besides those of enum later_push_result. STRANGE: a word that we do not know. */
enum { LATER_IS_ABSENT = LATER_IS_AGAIN + 1, LATER_IS_FULL, LATER_IS_STRANGE };

/* How job i went; *state (may be NULL) gets the state of one that is known, else "". */
int later_queue_pushed(const struct later_reply *reply, size_t i, const char **state);

/* What an outcome means to the caller: 0; or -1 with *err for LATER_IS_FULL (LATER_E_LATER) and
 * LATER_IS_STRANGE (LATER_E_BUG). */
int later_queue_refused(int how, const char *queue, struct later_error *err);

/* --- reserve --- */

struct later_settlement;

#define LATER_AHEAD_MAX 8
struct later_take {
    const char *token;
    double lease; /* seconds */
    size_t limit; /* 1 … LATER_BATCH_MAX jobs */
    size_t bytes; /* of their documents */
    bool beside;  /* documents are not in the answer: large ones cost less by the command below */
    bool idle;    /* the client was idle, and may get only one job; not of a step */
    double until; /* Redis's time after which nothing is taken; 0 = none; not of a step */
    const char *const *ahead; /* keys of wakes of queues of the same server: if one is there, */
    size_t ahead_count;       /* nothing is taken; at most LATER_AHEAD_MAX */
};
void later_queue_reserve(struct later_command *cmd, const struct later_keys *keys,
                         const struct later_take *take);

/* ack, and then reserve, in one call. done: 1 … LATER_BATCH_MAX jobs of one token and of the same
 * queue; of each, the token and the id are used. left: what a single one leaves, a result or a
 * value only, as by finish; NULL: nothing. Its answer is that of a reserve; from it,
 * later_queue_stepped() gives what an ack answers, and later_queue_given() what
 * later_flow_values() would for the only job in it; NULL: that was not told. Both are borrowed. */
struct later_remains;
void later_queue_step(struct later_command *cmd, const struct later_keys *keys,
                      const struct later_take *take, const struct later_settlement *done,
                      size_t count, const struct later_remains *left);
const struct later_reply *later_queue_stepped(const struct later_reply *reply);
const struct later_reply *later_queue_given(const struct later_reply *reply);

/* Asks for the documents of all jobs of its answer: an array in their order; nil for one that was
 * cancelled meanwhile. */
void later_queue_documents(struct later_command *cmd, const struct later_keys *keys,
                           const struct later_reply *reserved);

struct later_reserved {
    const char *id;       /* borrowed from the reply, NUL-terminated */
    const char *document; /* "" if it is beside the answer */
    size_t id_len, document_len;
    uint32_t attempts;
    int32_t crashes;      /* -1: none; 0: a suspect */
    bool begun;           /* it has been, also if a stop of laterd interrupted it */
    double unknown_since; /* since when no plugin has had its type; 0 = one has */
    double first_failed;  /* when it first failed, if its retries end by time; else 0 */
    bool is_step;         /* of a flow: others may want its value */
    const char *flow;     /* in which it has waited; "" = none; borrowed, flow_len bytes */
    size_t flow_len;
    const char *line; /* in which it waits or has waited (line.h); "" = none; borrowed */
    size_t line_len;
    double since;           /* since when it was ready, if its score does not say so; else 0 */
    const char *checkpoint; /* where it goes on, JSON; "" = at its beginning; borrowed */
    size_t checkpoint_len;
    const char *log; /* what its handler has said so far (LATER_LOG_MAX); "" = nothing; borrowed */
    size_t log_len;
};

size_t later_queue_reserved_count(const struct later_reply *reply);
/* How many jobs are still ready, if one that was idle got only one of them; else 0. */
size_t later_queue_reserved_left(const struct later_reply *reply);
/* Which of the queues ahead have a wake: bit 0 is the first. If any, nothing was taken. */
uint32_t later_queue_reserved_ahead(const struct later_reply *reply);
void later_queue_reserved(const struct later_reply *reply, size_t i, struct later_reserved *job);
double later_queue_reserved_now(const struct later_reply *reply);
/* Of all its documents, in the answer or beside it. */
size_t later_queue_reserved_bytes(const struct later_reply *reply);

/* Walks through the scores that the jobs had in ready. Redis answers those of every 16th job, or of
 * every 64th if there are more than 128; the others are interpolated. NAN: there is none. The reply
 * must not be freed meanwhile. */
struct later_scores {
    const char *said;
    double first, last; /* the two that were answered, before and after this job */
    size_t apart;       /* how many jobs apart these two are */
    size_t next, count;
};

void later_scores_begin(struct later_scores *scores, const struct later_reply *reply);
double later_scores_next(struct later_scores *scores);

/* --- settle: ack, expire, release, return, bury; and touch --- */

#define LATER_WAIT_TIME 1e9

/* What becomes of one reserved job. Unused members are NULL or 0; all borrowed. */
struct later_settlement {
    const char *token, *id;
    double wait;       /* release, return: seconds until it is due; 0 = ready at once; return: from
                        * LATER_WAIT_TIME on, the time at which it is due, by Redis's clock */
    const char *how;   /* release, bury, return: of an ending's row; NULL: ran, ran, held */
    const char *error; /* release, bury: from later_queue_error(); NULL = none. return: in place of
                        * `how` */
};

/* One call for count (1 … LATER_BATCH_MAX) jobs of one queue, all of one token. lease: seconds, for
 * touch, which renews it for all that the token holds. */
void later_queue_settle(struct later_command *cmd, const struct later_keys *keys,
                        enum later_verb verb, double lease, const struct later_settlement *jobs,
                        size_t count);

/* ack, for all jobs that a token holds: count (1 … LATER_BATCH_MAX) is how many. If it holds
 * another number by now, Redis does nothing and later_queue_wants_ids() says so; else the reply is
 * as of an ack. For a caller that knows that every job which the token was given is done. */
void later_queue_ack_all(struct later_command *cmd, const struct later_keys *keys,
                         const char *token, size_t count);
bool later_queue_wants_ids(const struct later_reply *reply);

/* How a job that is done is kept, so that it can be looked at. */
struct later_kept {
    uint32_t most; /* of a queue */
    double life;   /* seconds */
    double ms;     /* its last attempt took */
    const char *host;
};

/* A job that is pushed to tell that another has ended. */
struct later_hook {
    const char *said;  /* its type, or TYPE@QUEUE; without, it goes into the queue of the other */
    const char *of;    /* the type of the job that has ended; "" = not known */
    const char *queue; /* its queue, under the name that people use */
};

/* What a job leaves. */
struct later_remains {
    double result;     /* its result is kept for so many seconds; 0 = not */
    const char *value; /* of a done job, JSON; value_len 0 = null */
    size_t value_len;
    const struct later_kept *kept; /* how the job itself is kept, if it is done; NULL = not */
    const struct later_hook *hook; /* NULL = none */
};

/* Encodes its value, as finish and step take it. */
void later_queue_add_value(struct later_command *cmd, const struct later_remains *left);

/* Ends one job for good. how: done, else as for bury. The reply is as for the others. */
void later_queue_finish(struct later_command *cmd, const struct later_keys *keys,
                        const struct later_settlement *job, const struct later_remains *left);

/* The same for count (1 … LATER_BATCH_MAX) jobs of one token that are done and have no hook. It is
 * begun, and then each is added, so that one value at a time needs memory beside the command. kept:
 * of all of them the same, but for `ms`; NULL = none is kept. */
void later_queue_finish_all(struct later_command *cmd, const struct later_keys *keys,
                            const char *token, size_t count, const struct later_kept *kept);
void later_queue_finish_add(struct later_command *cmd, const char *id,
                            const struct later_remains *left);

/* What a job has logged, as it is kept with it: `{"dropped":N,"lines":[LINE,…]}`, where a LINE is
 * `{"at":…,"attempt":1,"level":"info","text":"…"}`. */
#define LATER_LOG_MAX   100   /* lines, */
#define LATER_LOG_BYTES 16384 /* and bytes of them with the commas between */

/* How far a reserved job has come, where its next attempt goes on, and what it has logged. All is
 * borrowed. */
struct later_progress {
    const char *id;
    const char *text;       /* `"done":…,"total":…,"text":…}`; NULL: what Redis knows stays */
    const char *checkpoint; /* JSON; checkpoint_len 0: what Redis knows stays */
    size_t checkpoint_len;
    const char *log; /* JSON, as above; log_len 0: what Redis knows stays */
    size_t log_len;
};

/* Tells Redis so of count (1 … LATER_BATCH_MAX) jobs of one token. The reply is as for the others.
 */
void later_queue_progress(struct later_command *cmd, const struct later_keys *keys,
                          const char *token, const struct later_progress *jobs, size_t count);

/* A verb's name ("ack"); and for a job with which that was done ("acked"). */
const char *later_verb_name(enum later_verb verb);
const char *later_verb_past(enum later_verb verb);

/* Was job i (from 0) of a settle or touch LOST? The reply lists positions; `lost` must be walked
 * in order: pass the same *cursor, 0 at first. */
bool later_queue_lost(const struct later_reply *reply, size_t i, size_t *cursor);

/* `"kind":…,"text":…,"host":…}` for settlements. kind: of an ending's row. seconds: how long the
 * attempt took, in `"ms":…`; 0: not known, left out. Returns a malloc'ed string, NULL without
 * memory. */
char *later_queue_error(const char *kind, const char *text, const char *host, double seconds);

/* --- migrate --- */

struct later_migrated {
    uint32_t promoted;
    double next_due, next_lapse; /* seconds from now; < 0 = none */
    double next_tick;            /* the same, of a schedule */
    double now;                  /* Redis's clock */
    bool rests;     /* nothing ready, delayed or reserved, no schedule, no id that stays taken */
    bool has_news;  /* of flows, for other queues */
    bool seeks;     /* it is time for later_flow_seek() */
    size_t run_out; /* tokens that have to lapse; 100: there may be more */
};

void later_queue_migrate(struct later_command *cmd, const struct later_keys *keys, size_t limit);
void later_queue_migrated(const struct later_reply *reply, struct later_migrated *migrated);

/* The i-th of those tokens. */
const char *later_queue_run_out(const struct later_reply *reply, size_t i);

/* Makes what a token holds ready again, if its lease is still over. deadline: Redis time after
 * which nothing lapses; 0 = none. error: from later_queue_error(). The reply is how many jobs there
 * were. */
void later_queue_lapse(struct later_command *cmd, const struct later_keys *keys, const char *token,
                       double deadline, const char *error);

/* --- one queue, a list of ids --- */

/* kick, show (1 … LATER_BATCH_MAX ids); and cancel, with the token under which they may be
 * reserved; "" = none. */
void later_queue_ids(struct later_command *cmd, enum later_script script,
                     const struct later_keys *keys, const char *const *ids, size_t count);
void later_queue_cancel(struct later_command *cmd, const struct later_keys *keys, const char *token,
                        const char *const *ids, size_t count);

#endif
