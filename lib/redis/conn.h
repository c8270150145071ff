/*
 * conn.h: one connection to one Redis, and one answer to each command, always. What redis.h makes
 * of a URL that names a server, or Sentinels; cluster.h has one for each node. Each call is the one
 * of the same name in redis.h, which says what it does.
 *
 * hiredis parses the replies, and only that. Its own connections lack what a daemon needs
 * (deadlines, CLOEXEC, writes without SIGPIPE, "sent or not?" when a connection dies: hiredis
 * 0.14.1), so sockets and queues are ours.
 *
 * With an address of Sentinels, connecting begins with asking them (sentinel.h), each for at most
 * LATER_SENTINEL_SECONDS; the Redis that is named must answer ROLE with master before commands are
 * taken. One that answers READONLY is left as soon as nothing else is outstanding there.
 */
#ifndef LATER_CONN_H
#define LATER_CONN_H

#include "redis/address.h"
#include "redis/command.h"
#include "later/error.h"
#include "redis/reply.h"

#include <stdbool.h>

#define LATER_NO_SCRIPT (-1)

enum later_outcome {
    LATER_ANSWERED, /* reply is there and no error */
    LATER_REFUSED,  /* Redis answered with an error; remedy says what to do */
    LATER_UNSENT,   /* the connection broke before: nothing has happened */
    LATER_UNKNOWN   /* the connection broke after: it may have run, or may still run */
};

struct later_answer {
    enum later_outcome outcome;
    enum later_remedy remedy;  /* where REFUSED */
    struct later_reply *reply; /* borrowed; to keep it, set this to NULL and free it later */
    const char *text;          /* Redis's error, or why the connection broke; "" where ANSWERED */
    struct later_command *cmd; /* borrowed, what was asked; who zeroes it owns its bytes; may be
                                * NULL, as it is where the answer is not a connection's own */
};
typedef void later_answer_fn(void *arg, struct later_answer *answer);

#define LATER_NODE_SIZE 264 /* "host:port" of a Cluster's node */
typedef void later_node_fn(void *arg, const char *node);

struct later_redis_options {
    struct later_address address; /* copied */
    const char *password;         /* copied; NULL = none */
    const char *name;             /* CLIENT SETNAME: [!-~]{1,63}; copied; NULL = none */
    const char *protocol;         /* key of the protocol's number; copied; NULL = not looked at */
    double connect_timeout;       /* seconds for connecting and the handshake; 0 = 2 */
    bool sentinel;                /* of a sentinel: address: stay at a Sentinel, do not go on */
    /* All may be NULL. None may call later_conn_free(). */
    void (*up)(void *arg);                    /* the handshake is done: commands are taken */
    void (*down)(void *arg, const char *why); /* it broke, or could not be made */
    void (*message)(void *arg, const char *channel, const char *text); /* after SUBSCRIBE */
    void *arg;
};

struct later_conn;

struct later_conn *later_conn_new(const struct later_redis_options *options);
struct later_conn *later_conn_twin(const struct later_conn *conn);
void later_conn_free(struct later_conn *conn);
int later_conn_password(struct later_conn *conn, const char *password);
const char *later_conn_peer(const struct later_conn *conn);
int later_conn_connect(struct later_conn *conn, struct later_error *err);
void later_conn_disconnect(struct later_conn *conn, const char *why);
bool later_conn_up(const struct later_conn *conn);
bool later_conn_down(const struct later_conn *conn);
bool later_conn_other_protocol(const struct later_conn *conn);
int64_t later_conn_id(const struct later_conn *conn);
double later_conn_since(const struct later_conn *conn);
int later_conn_send(struct later_conn *conn, struct later_command *cmd, int script, double timeout,
                    later_answer_fn *fn, void *arg);
size_t later_conn_pending(const struct later_conn *conn);
void later_conn_flush(struct later_conn *conn);
int later_conn_fd(const struct later_conn *conn);
bool later_conn_wants_write(const struct later_conn *conn);
double later_conn_deadline(const struct later_conn *conn);
void later_conn_handle(struct later_conn *conn);
void later_conn_tick(struct later_conn *conn);

#endif
