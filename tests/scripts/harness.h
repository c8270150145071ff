/*
 * harness.h: the scripts of scripts/, one by one, on a redis-server of the program's own.
 *
 * Each test begins on an empty Redis with a connection of its own, on the queue `q`. Keys are named
 * by their last word: "ready" is `later:{q}:ready`. Whatever these functions return lives until the
 * test ends or calls harness_free. Where Redis answers an error they fail the test, unless said.
 *
 *     TEST(acked_is_gone)
 *     {
 *         push("a");
 *         reserve('t', 1);
 *         run("ack", member('t', "a"), NULL);
 *         ck_assert_int_eq(stat_of("done"), 1);
 *         check_sums();
 *     }
 *
 * main() is in the library.
 */
#ifndef TESTS_SCRIPTS_HARNESS_H
#define TESTS_SCRIPTS_HARNESS_H

#include "tests/support/server.h"
#include "tests/unit/unit.h"
#include "redis/script.h"

#include <check.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

extern struct server harness_server;
extern redisContext *harness_redis;

/* Like ck_assert_msg, where thousands pass: that one writes into a file each time where it is. */
#define harness_assert(so, ...)                                                                    \
    do {                                                                                           \
        if (!(so))                                                                                 \
            ck_abort_msg(__VA_ARGS__);                                                             \
    } while (0)

/* Redis's clock stands still in all tests of this program, but for server_advance(): where they are
 * about a second or two, which a busy machine could take between two commands. For AT_START. */
void harness_stand_still(void);

/* Frees what the functions below returned so far: for tests of many steps. */
void harness_free(void);

/* Has memory from malloc, or a reply, freed then. Returns it. */
void *harness_keep(void *memory);
redisReply *harness_keep_reply(redisReply *reply);

/* ---- commands and scripts */

/* A command of Redis, in hiredis's format. `ask_error` may be answered an error. */
redisReply *ask(const char *format, ...);
redisReply *ask_error(const char *format, ...);

/* The next arguments of the next script: text; printf; bytes. */
void arg(const char *text);
void argf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void arg_bytes(const char *bytes, size_t len);

/* Runs a script with the arguments added so far and those given here (texts, NULL at the end).
 * `run_error` wants an error and returns its text; `run_any` takes what comes. */
redisReply *run(const char *script, ...) __attribute__((sentinel));
const char *run_error(const char *script, ...) __attribute__((sentinel));
redisReply *run_any(const char *script, ...) __attribute__((sentinel));

/* The next script tells of its jobs' ends in `events`, of host h: this is the line of each, and so
 * many are kept. */
void tell(int kept, const char *line, ...) __attribute__((sentinel));

/* The row of a script in the generated table. */
const struct later_script_text *script_text(const char *script);

/* The keys a script is called with, with the arguments added so far: `out` gets script->key_count
 * names. */
void script_keys(const struct later_script_text *script, const char *out[16]);

/* All that follows is about this queue. */
void on_queue(const char *name);

/* Push one job of priority 0, now: id and `{"type":"t"}`. */
void push(const char *id);

/* Push one job with a priority, or a `when` as in push.lua. */
void push_priority(const char *id, int priority);
void push_when(const char *id, const char *when);

/* Reserve at most `limit` jobs for 30 s under a token of 16 times `token`. */
redisReply *reserve(char token, int limit);
/* The same as a client that was idle. */
redisReply *reserve_idle(char token, int limit);

/* The same with a budget of bytes. */
redisReply *reserve_bytes(char token, int limit, long bytes);

/* How many jobs reserve handed out, and what it told of the i-th (from 0). */
enum part { ID, RECORD, DOCUMENT };
size_t jobs_in(const redisReply *reply);
const char *told(const redisReply *reply, size_t i, enum part part);

/* For all below "reserved" is what the tokens hold: `TOKEN:id`, and the score is the lease's end.
 */

/* Makes all jobs of `delayed` due, or all leases of `reserved` run out: long ago, one after the
 * other. */
void make_due(const char *set);

/* `tttttttttttttttt:id`: for scripts that settle. The token of the first such argument makes the
 * key `held`, and is taken off all arguments that have it. */
const char *member(char token, const char *id);

/* Pushes and reserves jobs whose ids are these letters under the token t; `mine` is its member. */
void hold(const char *ids);
const char *mine(const char *id);

/* Has every lease that has run out lapse, as a migrator does; returns how many jobs there were. */
long long lapse(const char *reason);

/* The token whose set is `held` for the next script that has that key. */
void hold_by(const char *token);

/* One more key for the next script, behind its own; at most AHEAD_MAX. */
#define AHEAD_MAX 8
void go_ahead(const char *key);

/* What the permits or the limit of the next scripts are called, if not n and f. */
void share_by(const char *name);

/* A job in each state, named after it: "ready", "delayed", "reserved" (under r), "dead". */
void one_in_each_state(void);

/* The tags of a record: attempts, crashes, interrupts, priority, error. Something in each: 1, 2, 3,
 * 4 and 5, for a job or for those of one_in_each_state; that is FULL_RECORD. */
extern const char *const tags[5];
#define FULL_RECORD "a=1\nc=2\ni=3\np=4\ne=5\n"
void fill_record(const char *id);
void fill_each_state(void);

/* Writes one tag of a job's record. */
void note(const char *tag, const char *id, const char *value);

/* ---- what Redis holds */

/* The whole name of a key; and of what a token holds. */
const char *key(const char *name);
const char *held_by(const char *token);

/* A set's members in order, with a space between. */
const char *members(const char *set);

/* A member's score as Redis writes it, and as a number; "" and NaN if it is not there. */
const char *score_text(const char *set, const char *id);
double score(const char *set, const char *id);

/* A field of a hash, or "". */
const char *field(const char *hash, const char *name);

/* The value of a tag in a record, or in a job's record, or ""; how many records have that tag. */
const char *value_in(const char *record, const char *tag);
const char *noted(const char *tag, const char *id);
long long how_many(const char *tag);

/* How much a key holds: members, fields or elements; 0 if there is no such key. */
long long size_of(const char *name);

/* A counter of `stats`. */
long long stat_of(const char *counter);

/* Redis's clock. */
double now(void);

/* A number for all that Redis holds, each key's bytes and expiry. */
uint64_t digest(void);

/* Each job is in one state: members of all sets = documents + members not adopted yet. */
void check_members(void);

/* That, and the counters: what came in = what went out + documents; wake: at most one token. */
void check_sums(void);

/* The error of a job is {"at":T,"attempt":N, and then the tail; T is Redis's time since `after`. */
void check_error(const char *id, int attempt, double after, const char *tail);

/* wake has its one token exactly where ready is not empty and the queue not paused. */
void check_wake(void);

/* An array of texts and integers, with a space between; "nil" for nil. */
const char *flat(const redisReply *reply);

/* printf into memory that lives as long as the rest. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A second connection that hears a channel of the queue; redisFree() it. Then the next message that
 * came on it, "end" if none did: at most one may come between two calls. */
redisContext *listen_to(const char *channel);
const char *heard(redisContext *listener, const char *channel);

#endif
