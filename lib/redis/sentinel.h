/*
 * sentinel.h: asks Redis Sentinels who is master: the commands, and whose turn it is.
 *
 * Pure: conn_dial.c sends and reads. It follows https://redis.io/docs/reference/sentinel-clients/:
 * the Sentinels are asked one after another, each with a short deadline; the one that answered goes
 * to the front. The Redis that it names must say itself that it is the master (ROLE); if it does
 * not, that Sentinel was out of date and goes to the end.
 */
#ifndef LATER_SENTINEL_H
#define LATER_SENTINEL_H

#include "redis/address.h"
#include "redis/command.h"
#include "redis/reply.h"

#include <stdbool.h>
#include <stdint.h>

#define LATER_SENTINEL_SECONDS 0.5               /* for a Sentinel to connect and answer */
#define LATER_PEER_SIZE        (256 + 1 + 5 + 1) /* "host:port" and its NUL */

/* Whose turn it is. Plain data. */
struct later_turns {
    uint8_t order[LATER_HOSTS_MAX]; /* numbers for later_address_host() */
    uint8_t count, at;
};

/* `count` Sentinels (at most LATER_HOSTS_MAX), in the URL's order. */
void later_turns_init(struct later_turns *turns, unsigned count);

/* Begins at the front. */
void later_turns_begin(struct later_turns *turns);

/* Whose turn it is. */
unsigned later_turns_now(const struct later_turns *turns);

/* Goes on to the next. Returns false after the last one. */
bool later_turns_next(struct later_turns *turns);

/* The present one was right and goes to the front; or it was wrong and goes to the end. */
void later_turns_right(struct later_turns *turns);
void later_turns_wrong(struct later_turns *turns);

/* `SENTINEL get-master-addr-by-name MASTER` into cmd. */
void later_sentinel_ask(struct later_command *cmd, const char *master);

/* Reads its answer: host and port into *to, the rest of which stays as it is. Returns 0, or -1 if
 * the Sentinel does not know that master. */
int later_sentinel_named(const struct later_reply *reply, struct later_address *to);

/* ROLE's answer: is it the master? */
bool later_sentinel_is_master(const struct later_reply *reply);

/* Reads a message of the channel +switch-master, `NAME OLD-HOST OLD-PORT HOST PORT`: "HOST:PORT"
 * into peer. Returns false if it is about another master, or is not such a message. */
bool later_sentinel_switched(const char *text, const char *master, char peer[LATER_PEER_SIZE]);

/* The same for +promoted-slave, `slave WORD HOST PORT @ NAME OLD-HOST OLD-PORT`. The Sentinel that
 * leads a failover sends this at once, and +switch-master only when the other replicas follow. */
bool later_sentinel_promoted(const char *text, const char *master, char peer[LATER_PEER_SIZE]);

/* Writes "host:port" into peer; "" if there is no host. */
void later_sentinel_peer(const struct later_address *address, char peer[LATER_PEER_SIZE]);

#endif
