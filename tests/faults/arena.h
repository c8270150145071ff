/*
 * arena.h: a Redis and up to three laterds for a test, with the trace plugin, and what a test does
 * to them. Everything dies with the test and is removed.
 */
#ifndef FAULTS_ARENA_H
#define FAULTS_ARENA_H

#include "later/client.h"
#include "tally.h"
#include "tests/support/server.h"

#include <stdbool.h>
#include <sys/types.h>

#define ARENA_HOSTS 3

struct arena {
    struct server redis;
    char folder[64];
    char trace[96], pushed[96], faults[96];
    char url[160];       /* of Redis, for the next laterd and the next client */
    const char *preload; /* LD_PRELOAD of the next laterd, or NULL */
    struct {
        pid_t pid; /* 0: not running */
        char config[96], log[96];
    } hosts[ARENA_HOSTS];
    pid_t proxy;
    struct later_client *client;
    redisContext *direct;
};

/* Starts Redis (options: lines of redis.conf, or NULL). Returns 0 or -1. */
int arena_open(struct arena *arena, const char *redis_options);
/* The same, with laterd 0. If that is not possible it reports so, has closed the arena, and returns
 * false. */
bool arena_enter(struct arena *arena, const char *redis_options, const char *options);
/* Kills and removes all. */
void arena_close(struct arena *arena);

/* Starts laterd `n` with these lines of configuration after those that every test has, and waits
 * until its workers are ready. Returns 0, or -1 with its log on stdout. */
int arena_start(struct arena *arena, int n, const char *options);
/* Other lines of configuration, and HUP. */
int arena_reload(struct arena *arena, int n, const char *options);
/* Starts it again as it was; does not wait. */
int arena_again(struct arena *arena, int n);
int arena_wait_ready(struct arena *arena, int n);
/* TERM, and wait for its end. Returns its exit status, or -1 when it had to be killed. */
int arena_stop(struct arena *arena, int n);
/* KILL of the supervisor and, with `all`, in the same moment of all its workers. */
void arena_kill(struct arena *arena, int n, bool all);
bool arena_alive(struct arena *arena, int n);
/* How often a text is in its log. */
size_t arena_logged(const struct arena *arena, int n, const char *text);

/* The pids of laterd's workers. Returns how many. */
size_t arena_workers(const struct arena *arena, int n, pid_t *pids, size_t most);

/* Pushes one job of a type with a payload (a string without quotes), and notes the outcome. While
 * it is refused it tries again for up to ten seconds. Returns 0, or -1 if it was refused or the
 * outcome is unknown. */
int arena_push(struct arena *arena, const char *id, const char *type, const char *payload);
int arena_push_job(struct arena *arena, const struct later_new_job *job, double due);
int arena_push_in(struct arena *arena, const char *queue, const struct later_new_job *job,
                  double due);

/* Sends a signal to laterd `n` and all of its workers. */
void arena_signal(struct arena *arena, int n, int number);

/* Jobs whose payload is "stay" end: those that run, and those to come. */
void arena_go(const struct arena *arena);

/* Notes a fault that lasted from `start` until now. */
void arena_fault(struct arena *arena, double start, const char *what);

/* Returns the number that a command answers, or -1. */
long long arena_ask(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sends a command that must be answered with +OK or a number. Otherwise it says why on stdout. */
bool arena_do(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Has a script run in Redis for so many seconds, meanwhile all others are answered BUSY. It is
 * ended from outside: since Redis 7.2 time stands still in a script. */
bool arena_occupy(struct arena *arena, double seconds);
/* Returns the direct connection, and reconnects if it is gone. NULL = Redis is away. */
redisContext *arena_redis(struct arena *arena);

/* How many times as long as on an idle machine something may take now: the processes that there
 * have been for each processor in the last minute, 1 at least. */
double arena_busy(void);
/* Returns until when (arena_now()) to wait for something that takes this many seconds on an idle
 * machine: at least half a minute, and longer on a busy machine, so that only a hang reaches it. 0
 * = until now. */
double arena_until(double seconds);
/* Was it that soon (both in seconds), or as soon as a busy machine allows? Ten seconds are added,
 * since any process may stand still while others run. So it is only for things that would take
 * longer still if they had come about in another way, such as by the end of a lease. */
bool arena_soon(double took, double limit);

/* Nothing ready, delayed or reserved in `default`: waits until arena_until(seconds). */
bool arena_drained(struct arena *arena, double seconds);
/* Waits until a line of the trace begins with this ("B id "); returns when (CLOCK_MONOTONIC) it was
 * seen, or 0 when arena_until(seconds) has come. nth: how many such lines there must be. */
double arena_seen(const struct arena *arena, const char *line, size_t nth, double seconds);

/* The tally of the queue `default`. Returns 0 or -1. */
int arena_tally(struct arena *arena, struct tally *tally);

/* Puts a proxy (proxy.c) before Redis: `url` leads to it from now on. Returns 0 or -1. The direct
 * connection goes past it. */
int arena_proxy(struct arena *arena);
void arena_proxy_end(struct arena *arena);
/* An order to it; returns how many replies it has lost so far. */
int arena_order(const struct arena *arena, const char *order, unsigned number);

/* CLOCK_MONOTONIC; sleeping; a random number below n, from srandom(). */
double arena_now(void);
void arena_sleep(double seconds);
unsigned arena_random(unsigned n);

/* A process that pushes, from `seed`, `burst` jobs at a time, `rate` per second, for `seconds`. The
 * percentages say how many are something other than "sleep 0…slow_ms". */
struct produce {
    const char *queue;      /* NULL: default */
    unsigned shards, shard; /* 0, or push only ids of this shard of so many */
    const char *prefix;     /* of their ids */
    unsigned seed, burst, slow_ms;
    double rate, seconds;
    unsigned delayed, fail, crash, hang, junk; /* percent; of crash and hang: tenths */
    /* percent of type trace.event, .lone, .few, .limited or of group ann, bob, cy (the end of their
     * ids), some with a priority or a result */
    unsigned mixed;
};
/* TERM ends it early, after a push whose outcome is noted. */
pid_t arena_produce(struct arena *arena, const struct produce *what);
/* Waits for its end. */
void arena_produced(pid_t pid);

#endif
