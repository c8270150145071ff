/*
 * redis.h: a client of the Redis that a URL names. Each command always gets one answer. If the URL
 * names a server or Sentinels, there is one connection (conn.h); if it names a Cluster, one for
 * each node (cluster.h).
 *
 * It never waits by itself. Its owner polls later_redis_fd(), calls later_redis_handle() when
 * something is ready and later_redis_tick() when later_redis_deadline() has come. The daemon does
 * so with libevent, client.c by later_redis_wait(); both see the same answers.
 *
 * Every command has a deadline, even if it waits for a slower one before it, since answers come in
 * order. When a deadline passes, or the connection breaks, the connection is closed, and each
 * command without an answer is answered at once: UNSENT if not a byte of it had left (nothing has
 * happened), UNKNOWN if it may have run. A connection that is down stays down until
 * later_redis_connect() is called again; when to do so is the owner's policy.
 *
 * In a Cluster one node may be away while the others are not. Then commands for its slots are
 * answered UNSENT or UNKNOWN, and others go on. `up` is called once when the slots are known, and
 * again whenever a node is back or slots have moved: what was refused may work now, and what was
 * lost may be looked for. The Cluster is down when no node answers.
 */
#ifndef LATER_REDIS_H
#define LATER_REDIS_H

#include "redis/address.h"
#include "redis/command.h"
#include "later/error.h"
#include "redis/reply.h"

#include <stdbool.h>

/* What became of a command. */
enum later_answer_outcome {
    LATER_ANSWERED, /* reply is there and no error */
    LATER_REFUSED,  /* Redis answered with an error; remedy says what to do */
    LATER_UNSENT,   /* the connection broke before: nothing has happened */
    LATER_UNKNOWN   /* the connection broke after: it may have run, or may still run */
};

struct later_answer {
    enum later_answer_outcome outcome;
    enum later_remedy remedy;  /* if REFUSED */
    struct later_reply *reply; /* borrowed; to keep it, set this to NULL and free it later */
    const char *text;          /* Redis's error, or why the connection broke; "" if ANSWERED */
    struct later_command *cmd; /* borrowed, may be NULL; zero it to keep its bytes */
};
typedef void later_answer_fn(void *arg, struct later_answer *answer);

#define LATER_NODE_SIZE 264 /* "host:port" of a Cluster's node */
typedef void later_node_fn(void *arg, const char *node);

struct later_redis_options {
    struct later_address address; /* copied */
    const char *password;         /* copied; NULL = the address's, if it has one */
    const char *password_file;    /* copied; read at each connection, since another may be in it;
                                   * unreadable: the last password stays; NULL = none */
    const char *name;             /* CLIENT SETNAME: [!-~]{1,63}; copied; NULL = none */
    const char *protocol;         /* key of the protocol's number; copied; NULL = not checked */
    double connect_timeout;       /* seconds for connecting and the handshake; 0 = 2 */
    bool sentinel;                /* for a sentinel: address: stay connected to a Sentinel */
    /* All may be NULL. None may call later_redis_free(). */
    void (*up)(void *arg);                    /* the handshake is done: commands are taken */
    void (*down)(void *arg, const char *why); /* it broke, or could not be made */
    void (*message)(void *arg, const char *channel, const char *text); /* after SUBSCRIBE */
    void *arg;
};

struct later_redis;

/* Makes a client, which is down: of a server or of a Cluster, as the address says (open.c). NULL
 * without memory. */
struct later_redis *later_redis_new(const struct later_redis_options *options);

/* Makes another one with the same address and user, which is down and has no callbacks. NULL
 * without memory. */
struct later_redis *later_redis_twin(const struct later_redis *redis);

/* Answers what has no answer (UNSENT, UNKNOWN), closes and frees it. NULL is fine. */
void later_redis_free(struct later_redis *redis);

/* Returns the "host:port" of the Redis that Sentinels named, while a connection to it exists or is
 * being made; else "". Valid as long as the connection. */
const char *later_redis_peer(const struct later_redis *redis);

/* Returns the file from which it reads its password; NULL: none. Valid as long as the connection.
 */
const char *later_redis_password_file(const struct later_redis *redis);

/* Begins to connect; does nothing unless it is down. If the host has several addresses and one
 * refuses, the next is tried, beginning with the one that last worked. Returns 0, or -1 with *err
 * if it failed at once (then `down` is not called). */
int later_redis_connect(struct later_redis *redis, struct later_error *err);

/* Breaks the connection, as if it had failed with `why`. */
void later_redis_disconnect(struct later_redis *redis, const char *why);

/* Are commands taken? Is a connection there or being made? */
bool later_redis_up(const struct later_redis *redis);
bool later_redis_down(const struct later_redis *redis);

/* Was the last connection refused because another version keeps its jobs there (key.h,
 * LATER_PROTOCOL)? `down` was called with the message. */
bool later_redis_other_protocol(const struct later_redis *redis);

/* Returns Redis's number for this connection (CLIENT ID), for CLIENT UNBLOCK; 0 if the ACL hides
 * it, and for a Cluster. */
int64_t later_redis_id(const struct later_redis *redis);

/* Returns when (later_clock()) `up` was last called. Whoever could not be reached before that has
 * had time since then. 0: never. */
double later_redis_since(const struct later_redis *redis);

/* Takes over *cmd, which the next later_redis_flush() or later_redis_handle() sends; it is answered
 * within `timeout` seconds from now; while an answer comes in pieces, from the last piece. fn may
 * be NULL. Returns 0; or -1, with *cmd freed and fn not called, if the connection is not up or
 * memory is out. That is like UNSENT. */
int later_redis_send(struct later_redis *redis, struct later_command *cmd, double timeout,
                     later_answer_fn *fn, void *arg);

/* Does its address name a Cluster? Known from the beginning. */
bool later_redis_is_cluster(const struct later_redis *redis);

/* For a Cluster: returns how many masters it has, as far as is known (else 0); sends a command to
 * number `which` of them, whatever its key, for questions to each server (INFO); says whether that
 * one has this slot (slot.h). */
size_t later_redis_masters(const struct later_redis *redis);
int later_redis_send_to(struct later_redis *redis, size_t which, struct later_command *cmd,
                        double timeout, later_answer_fn *fn, void *arg);
bool later_redis_has(const struct later_redis *redis, size_t which, int slot);
/* Writes the "host:port" of that one; "" if there are fewer. */
void later_redis_master(const struct later_redis *redis, size_t which, char name[LATER_NODE_SIZE]);

/* For a Cluster: calls fn with the "host:port" of each node that is connected. */
void later_redis_connections(const struct later_redis *redis, later_node_fn *fn, void *arg);

/* Returns how many commands have no answer yet. */
size_t later_redis_pending(const struct later_redis *redis);

/* Writes what can be written now; all queued commands go in one write. Calls no callback even if
 * the write fails: later_redis_handle() or later_redis_tick() do that, at once. */
void later_redis_flush(struct later_redis *redis);

/* For the owner's loop: the socket, or -1; whether it waits for writing; when (later_clock())
 * later_redis_tick() is to be called, which may find nothing to do then; INFINITY for never. */
int later_redis_fd(const struct later_redis *redis);
bool later_redis_wants_write(const struct later_redis *redis);
double later_redis_deadline(struct later_redis *redis);

/* Reads, calls callbacks, writes, connects: whatever is possible without blocking. */
void later_redis_handle(struct later_redis *redis);

/* Breaks the connection if a deadline has passed. */
void later_redis_tick(struct later_redis *redis);

/* Waits and handles until the clock says `until` or something has been handled; it may return
 * before that. For owners without a loop. */
void later_redis_wait(struct later_redis *redis, double until);

#endif
