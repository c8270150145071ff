/*
 * stage.h: what a scenario runs on: a redis-server and a laterd of its own. Both end with the
 * scenario, whatever happens: by an atexit() function, and because they die with us.
 */
#ifndef BENCH_STAGE_H
#define BENCH_STAGE_H

#include "redis/key.h"
#include "tests/support/server.h"

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/types.h>

#define STAGE_QUEUE "bench"

extern bool quick;           /* small numbers, one run */
extern const char *jobs_dir; /* where null.so, sleep.so, probe.so are */

struct stage {
    struct server server;
    redisContext *redis;    /* our own connection */
    struct later_keys keys; /* of STAGE_QUEUE */
    char url[128];          /* for laterd and liblater */
    char folder[64];        /* laterd's configuration and state */
    pid_t laterd;           /* 0: not running */
    int workers;
    size_t probed; /* pairs that were read of what the probe has written */
};

/* Starts a redis-server with these lines of redis.conf (NULL: none); laterd not yet. */
void stage_open(struct stage *stage, const char *options);
/* The same, and laterd reaches it over loopback TCP. */
void stage_open_tcp(struct stage *stage);
/* Lets this Redis take TLS on a port of 127.0.0.1, too, and makes `url` the one for that; with a
 * certificate of openssl's, which must be there. */
void stage_use_tls(struct stage *stage);
void stage_close(struct stage *stage);

/* Starts laterd and waits until all workers are idle. `queues` is the list of its configuration, in
 * libconfig's form, NULL: STAGE_QUEUE alone. */
void stage_start(struct stage *stage, int workers, const char *queues);
/* The same without waiting; with workers 0, `queues` is a list of pools. */
void stage_start_only(struct stage *stage, int workers, const char *queues);
/* How many connections wait in BLPOP. */
double stage_blocked(struct stage *stage);
/* Ends laterd at once; what it held is of no interest. */
void stage_stop(struct stage *stage);

/* An answer of Redis, as redisCommand(); whatever is no answer ends the program. */
redisReply *stage_ask(struct stage *stage, const char *format, ...);
double stage_ask_number(struct stage *stage, const char *format, ...);

/* Makes the queue paused, or goes on; both for `queue`, or STAGE_QUEUE if NULL. */
void stage_pause(struct stage *stage, const char *queue);
void stage_resume(struct stage *stage, const char *queue);

/* stage_done() returns the number of jobs done so far. stage_wait_done() looks every 2 ms until
 * there are so many, and returns the time of a monotonic clock. It ends the program after two
 * minutes. */
double stage_done(struct stage *stage);
double stage_wait_done(struct stage *stage, double done);

/* Deletes all that is in Redis. */
void stage_flush(struct stage *stage);

/* What the probe, or a program of handlers, has written since the last time: pairs of numbers, at
 * most `room`. Returns how many. The file is $BENCH_MARKS, or one in the stage's folder. */
size_t stage_probed(struct stage *stage, double (*pairs)[2], size_t room);
/* Reads until there are `count` pairs. It ends the program after ten seconds. */
void stage_await_probed(struct stage *stage, size_t count, double (*pairs)[2]);

#endif
