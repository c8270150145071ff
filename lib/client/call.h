/*
 * call.h: blocking calls on a client, below later/client.h: for `later`, for the bulk push, for
 * the host functions of a worker.
 */
#ifndef LATER_CALL_H
#define LATER_CALL_H

#include "job/document.h"
#include "redis/command.h"
#include "redis/key.h"
#include "later/client.h"
#include "redis/redis.h"
#include "queue/shards.h"

/* Sends *cmd (emptied) and waits for its answer, connecting first where needed. wait: seconds the
 * command itself may block in Redis (BLPOP), on top of the client's timeout. repeat: it may be sent
 * again where the answer was lost (idempotent). Returns the reply, for the caller to
 * later_reply_free(); or NULL with *err: LATER_E_REDIS, LATER_E_TOKEN where Redis denies
 * permission, LATER_E_DATA where a script refused its arguments. */
struct later_reply *later_call(struct later_client *client, struct later_command *cmd, double wait,
                               bool repeat, struct later_error *err);

/* Has the last later_call() failed by what would be the answer again: a wrong type, a refused user,
 * a right that is missing, another protocol? Else Redis is away, or busy, or full. */
bool later_call_lasting(const struct later_client *client);

/* Sends *cmd and does not wait: fn gets the answer while somebody waits. Returns 0, or -1 with
 * *err when there is no connection (fn is not called). */
int later_call_begin(struct later_client *client, struct later_command *cmd, later_answer_fn *fn,
                     void *arg, struct later_error *err);

/* The same, but it is sent with the next one that is begun, or by later_call_drain(). */
int later_call_add(struct later_client *client, struct later_command *cmd, later_answer_fn *fn,
                   void *arg, struct later_error *err);

/* Waits until all are answered. Returns 0, or -1 with *err when the connection broke meanwhile. */
int later_call_drain(struct later_client *client, struct later_error *err);

/* Seconds since Redis last answered later_call() or later_call_drain(); negative: it never has. */
double later_call_silence(const struct later_client *client);

/* Waits until something comes or goes, at most its timeout. */
void later_call_wait(struct later_client *client);

/* Is it refused since the master has no replicas (NOREPLICAS)? Then the Sentinels, if the address
 * names some, are asked for another one. */
bool later_call_alone(const struct later_answer *answer);
void later_call_ask_sentinels(struct later_client *client);

/* Breaks the connection: every outstanding fn is called now. */
void later_call_abort(struct later_client *client);

/* Why the connection broke or could not be made, the last time; "" = it never did. Borrowed, until
 * it is made again. */
const char *later_call_why(const struct later_client *client);

/* Its connection, to be watched by an owner with a loop of its own (redis.h). Borrowed. */
struct later_redis *later_call_redis(const struct later_client *client);

/* Turns an answer that is no reply into *err and returns -1; returns 0 for a reply. One that says
 * that a plan of shards is stale keeps its words, for later_shards_stale(). */
int later_call_check(const struct later_answer *answer, struct later_error *err);

/* The prefix; the keys of a queue or of a shard, spelled (LATER_E_USAGE for a bad name). */
const char *later_call_prefix(const struct later_client *client);
int later_call_keys(struct later_client *client, const char *queue, struct later_keys *keys,
                    struct later_error *err);

/* Is it the name of a queue, and not of a shard, which nobody pushes to by hand? */
int later_call_whole(const char *queue, struct later_error *err);

/* The plan of a queue as far as this client has heard of it; else the empty one: then a push goes
 * to the plain queue, which answers with the plan. */
struct later_plan later_call_plan(const struct later_client *client, const char *queue);

/* A push to `part`, a shard of `queue` or the plain one, was refused with the words of a plan. Only
 * the plain queue knows it: a shard's words are only a reason to ask it. */
void later_call_learn(struct later_client *client, const char *queue, const char *part,
                      const char *words);

/* Reads the plan from Redis. 0, or -1 with *err. */
int later_call_ask_plan(struct later_client *client, const char *queue, struct later_plan *plan,
                        struct later_error *err);

/* The plan has changed `heard` times, and a call by it was refused: waits, unless that is few
 * times. -1 with *err if it is too often. */
int later_call_await_plan(const char *queue, unsigned heard, struct later_error *err);

/* The most bytes that a document may have. */
size_t later_call_document_max(const struct later_client *client);

/* Of a call of push_now: its number, and the set in which Redis remembers it. bits: as for
 * later_document_chance(). */
struct later_call_number {
    char set[LATER_NEW_ID_SIZE], number[LATER_NEW_NUMBER_SIZE];
};
struct later_call_number later_call_number(struct later_client *client, uint64_t bits);

/* Enters a queue into the set of known queues, once per connection and queue; best effort. */
void later_call_announce(struct later_client *client, const struct later_keys *keys);

#endif
