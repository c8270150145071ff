/*
 * sentinels.h: a master, two replicas and three Sentinels of a test's own, on free ports of
 * 127.0.0.1. All die with the test.
 */
#ifndef TESTS_SUPPORT_SENTINELS_H
#define TESTS_SUPPORT_SENTINELS_H

#include "node.h"
#include "ports.h"

#include <stdbool.h>
#include <sys/types.h>

#define SENTINELS_EACH     3
#define SENTINELS_DOWN     2.0 /* seconds: down-after-milliseconds */
#define SENTINELS_MASTER   "shop"
#define SENTINELS_REPLICAS (SENTINELS_EACH - 1)

struct sentinels {
    char folder[NODE_FOLDER];
    pid_t redis[SENTINELS_EACH], sentinel[SENTINELS_EACH];
    unsigned redis_port[SENTINELS_EACH], sentinel_port[SENTINELS_EACH];
    struct ports ports; /* both */
    char url[160];
};

/* Starts all (options: lines of the redis.conf of each, or NULL) and waits until each Sentinel
 * knows the two others and both replicas; number 0 is the master. Returns 0, or -1 with the reason
 * on stdout and nothing left behind. */
int sentinels_open(struct sentinels *set, const char *options);
/* Ends what runs and starts all again with these options and what they have written; number 0 is
 * the master, so it must have been in the end. Returns 0 or -1. */
int sentinels_again(struct sentinels *set, const char *options);
void sentinels_close(struct sentinels *set);

/* Which is the master, by what the Sentinels say; -1 where they do not know. */
int sentinels_master(struct sentinels *set);
/* Waits until it is another than `old`, and says so itself. Returns which, or -1 after `seconds`.
 */
int sentinels_await(struct sentinels *set, int old, double seconds);

/* The replicas may not copy any more from the master, which goes on as if nothing were wrong, until
 * it is gone. */
bool sentinels_cut(struct sentinels *set);

#endif
