/*
 * server.h: a redis-server for a test.
 *
 * It listens on a unix socket in a new folder, on no port, writes nothing to disk unless told to,
 * and dies with the process that started it, however that ends. A program that forks its tests
 * starts it first, in the parent.
 *
 *     struct server server;
 *
 *     if (server_start(&server, "appendonly yes\n") < 0)
 *         return 99;
 *     redisContext *redis = server_connect(&server);
 *     ...
 *     server_stop(&server);
 */
#ifndef TESTS_SUPPORT_SERVER_H
#define TESTS_SUPPORT_SERVER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct server {
    pid_t pid;       /* 0 = not running */
    char folder[64]; /* mkdtemp, in $TMPDIR or /tmp */
    char socket[80]; /* folder/socket */
    int64_t *ahead;  /* microseconds that its clock is ahead of ours; NULL: it has ours. Then, if it
                      * stands still, where. */
};

/* Makes the folder, with a redis.conf of the defaults in server.c followed by `options` (lines of a
 * redis.conf; NULL = none), starts $REDIS_SERVER or redis-server and waits until it answers PING.
 * Returns 0, or -1 with the reason on stderr and nothing left behind. */
int server_start(struct server *server, const char *options);

/* The same, with a clock of its own (clock_shim.c), which server_advance() turns. */
int server_start_with_clock(struct server *server, const char *options);

/* Turns its clock forward: TIME, the end of keys, of BLPOP, of CLIENT PAUSE. All that asks Redis
 * for the time sees it from the next command on, also in a fork. What laterd waits for by timers of
 * its own takes its time all the same: the renewal of leases, a third of one after another; the
 * look of a migrator, every 0.8 s. */
void server_advance(struct server *server, double seconds);

/* Its clock stands still from now on, and only server_advance() turns it: for what lasts a second
 * or two, which a busy machine could take between two commands. */
void server_stand_still(struct server *server);

/* Sends it a signal (SIGTERM, SIGKILL …) that ends it, and waits for its end. Its folder stays. */
void server_end(struct server *server, int signal);

/* Starts it again in the same folder, with its old data. Returns as server_start(). */
int server_again(struct server *server);

/* Ends it if it runs, and removes its folder. */
void server_stop(struct server *server);

/* Returns a new connection, which the caller frees with redisFree(), or NULL. */
redisContext *server_connect(const struct server *server);

#endif
