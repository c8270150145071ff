/*
 * sentinels.h: a master, two replicas and three Sentinels of a test's own, on free ports of
 * 127.0.0.1. All die with the test.
 */
#ifndef FAULTS_SENTINELS_H
#define FAULTS_SENTINELS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <sys/types.h>

#define SENTINELS_EACH     3
#define SENTINELS_DOWN     2.0 /* seconds: down-after-milliseconds */
#define SENTINELS_MASTER   "shop"
#define SENTINELS_REPLICAS (SENTINELS_EACH - 1)

struct sentinels {
    char folder[64];
    pid_t redis[SENTINELS_EACH], sentinel[SENTINELS_EACH];
    unsigned redis_port[SENTINELS_EACH], sentinel_port[SENTINELS_EACH];
    char url[160];
};

/* Starts all (options: lines of the redis.conf of each, or NULL) and waits until each Sentinel
 * knows the two others and both replicas; number 0 is the master. Returns 0, or -1 with the reason
 * on stdout and nothing left behind. */
int sentinels_open(struct sentinels *set, const char *options);
void sentinels_close(struct sentinels *set);

/* Which is the master, by what the Sentinels say; -1 where they do not know. */
int sentinels_master(struct sentinels *set);
/* Waits until it is another than `old`, and says so itself. Returns which, or -1 after `seconds`.
 */
int sentinels_await(struct sentinels *set, int old, double seconds);

/* A new connection, to be freed by the caller. NULL where there is none. */
redisContext *sentinels_connect(unsigned port);
/* A command there; is the answer no error? Says on stdout what else it is. */
bool sentinels_do(unsigned port, const char *command);

/* How many of the clients there have a name that begins with this; -1 where nobody answers. */
int sentinels_clients(unsigned port, const char *name);

/* The replicas may not copy any more from the master, which goes on as if nothing were wrong, until
 * it is gone. */
bool sentinels_cut(struct sentinels *set);

#endif
