/*
 * sentinels.h: a master, two replicas and three Sentinels for a test, on free ports of 127.0.0.1.
 * All die with the test.
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
    struct ports ports; /* of servers and Sentinels */
    char url[160];
};

/* Starts all (options: lines for the redis.conf of each, or NULL) and waits until each Sentinel
 * knows the two others and both replicas. Number 0 is the master. Returns 0; or -1 with the reason
 * on stdout and nothing left behind. */
int sentinels_open(struct sentinels *set, const char *options);
/* Stops what runs and starts all again, with these options and their old data. Number 0 is the
 * master, so it must have been at the end. Returns 0 or -1. */
int sentinels_again(struct sentinels *set, const char *options);
void sentinels_close(struct sentinels *set);

/* Returns which server is the master, as the Sentinels say, or -1 if they do not know. */
int sentinels_master(struct sentinels *set);
/* Waits until the master is another than `old`, and says so itself. Returns it, or -1 after
 * `seconds`. */
int sentinels_await(struct sentinels *set, int old, double seconds);

/* Stops the replicas from copying from the master, which goes on as if nothing were wrong until it
 * is killed. */
bool sentinels_cut(struct sentinels *set);

#endif
