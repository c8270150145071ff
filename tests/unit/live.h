/*
 * live.h: a redis-server of the test program's own, looked at from the side; and, for what lives on
 * a libevent loop, a loop with a link to it.
 */
#ifndef LIVE_H
#define LIVE_H

#include "base/clock.h"
#include "later/client.h"
#include "link/link.h"
#include "live_clock.h"
#include "log.h"
#include "queues/services.h"
#include "tests/support/server.h"
#include "unit.h"

#include <event2/event.h>

struct fake_redis;

extern struct server live_server;
extern char live_url[100]; /* "unix:/tmp/…/socket" */

void live_start(void);
void live_stop(void);
void live_begin(void); /* FLUSHALL, SCRIPT FLUSH, all CONFIG as it was */
void live_end(void);

/* What Redis answers to a command, spelled as for redisCommand(): a number, also of a string or of
 * an array's elements; a string, which lives until the next call but seven; whether it is a yes. */
long long live_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *live_string(const char *format, ...) __attribute__((format(printf, 1, 2)));
void live_do(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Redis's clock; a member's score in a set of a queue, or NAN. */
double live_time(void);
double live_score(const char *queue, const char *set, const char *member);

/* The value of a tag in a job's record, or "", as live_string(); how many of a queue's records have
 * that tag. */
const char *live_noted(const char *queue, const char *tag, const char *id);
long long live_noting(const char *queue, const char *tag);

/* A client of it that waits for an answer as long as a busy machine takes. */
struct later_client *live_client(void);

/* How often Redis has been asked to run a script since live_begin(). */
long long live_calls(void);

/* Puts a job with this id and document into queue q's ready, with this score, and counts it. */
void live_put(const char *queue, const char *id, double score);

/* Puts such a job, reserved under a token for this many seconds. */
void live_hold(const char *queue, const char *id, const char *token, double lease);

/* How many jobs all tokens of a queue hold. */
long long live_held(const char *queue);

/* `pushed + adopted = done + … + HLEN(jobs)`, and no id in two states. Fails the test if not. */
void live_check(const char *queue);

/* ---- on a loop */

extern struct event_base *live_base;
extern struct config live_config; /* of this Redis: one pool with the queues "q", "r"; change it */
extern struct link *live_link;
extern struct queues *live_queues; /* on that link, without a queue or a service yet */
extern int live_ups, live_downs;

/* Makes the served queues of a configuration that has changed; none has shards. */
void live_widen(struct config *config);

/* Makes base and link, to this Redis or to another; `up` is called besides. Waits until the link is
 * up for the first time. */
void live_loop(void (*up)(void));
void live_loop_at(const char *url, void (*up)(void));

/* Makes these queues, all that the configuration has now, and serves them: without services. */
void live_serve(struct queues *queues);

/* Frees the link (before what lives on it); then live_queues with their services, and the base.
 * NULL pointers are fine. */
void live_unlink(void);
void live_unloop(void);

/* How much slower than a plain build on an idle machine this is: $CK_TIMEOUT_MULTIPLIER, and the
 * processes that there have been for each processor in the last minute. */
double live_slowness(void);

/* Turns the loop once, 10 ms at most. */
void live_turn(void);

/* From now on, in this test, live_turn() also passes the time by 20 ms, for Redis and for us alike,
 * unless the link is down or waits for an answer: nothing is late because the machine is busy, and
 * leases of seconds are over soon. */
void live_hurry(void);

/* So much time has passed, for Redis and for us: at once. */
void live_advance(double seconds);

/* Seconds, for a difference of two: without those in which this process stood still, or, if time is
 * passed by live_hurry(), waited for an answer. For upper bounds. */
double live_awake(void);

/* Turns it until the condition holds, half a minute at most, and more on a busy machine, which only
 * a hang reaches and nobody turns. It is asked once a turn, and not again: what has held may be
 * over a moment later. */
#define LIVE_UNTIL(condition)                                                                      \
    do {                                                                                           \
        double live_until = live_clock_true() + 20 + 10 * live_slowness();                         \
        bool live_came;                                                                            \
                                                                                                   \
        while (!(live_came = (condition)) && live_clock_true() < live_until)                       \
            live_turn();                                                                           \
        ck_assert_msg(live_came, "waited in vain: %s", #condition);                                \
    } while (0)

/* Turns the loop for this long. The condition must hold all the time. */
#define LIVE_FOR(seconds, condition)                                                               \
    do {                                                                                           \
        double live_until = later_clock() + (seconds);                                             \
                                                                                                   \
        while (later_clock() < live_until) {                                                       \
            live_turn();                                                                           \
            ck_assert_msg((condition), "did not stay: %s", #condition);                            \
        }                                                                                          \
    } while (0)

/* From begin to end standard error, with the log, is a file in memory. live_logged(): how often it
 * has these words; live_log(): all of it, until the next call. */
void live_log_begin(enum log_level level);
int live_logged(const char *words);
const char *live_log(void);
void live_log_end(void);

/* A CASE on such a server, started before it; set_up() calls live_begin(), tear_down() live_end().
 */
#define LIVE_CASE(name, set_up, tear_down) AT_START(live_case(name, set_up, tear_down))
void live_case(const char *name, void (*set_up)(void), void (*tear_down)(void));

/* For fake_start(), before that server. arg: an unsigned seed: connections are cut after a random
 * number of bytes up or down: within the handshake, a command, an answer. */
void live_cut(struct fake_redis *fake, void *arg);
/* arg: an int: so many answers of an EVALSHA that does something are lost, each with its
 * connection; it is then 0. */
void live_lose(struct fake_redis *fake, void *arg);

#endif
