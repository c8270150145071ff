/*
 * conn_inner.h: what conn.c, conn_dial.c and conn_io.c share, and nobody else.
 */
#ifndef LATER_CONN_INNER_H
#define LATER_CONN_INNER_H

#include "redis/conn.h"
#include "redis/redis_inner.h"
#include "redis/script.h"
#include "redis/tls.h"

#include <hiredis/hiredis.h>

#define PATIENCE 0.1 /* seconds; twice as many each time that they were not enough */

/* A command that has no answer yet. Its bytes are kept until then: NOSCRIPT sends them again. */
struct pending {
    struct pending *next;
    struct later_command cmd;
    size_t sent; /* bytes */
    double timeout, deadline;
    bool reloaded;
    later_answer_fn *fn;
    void *arg;
};

/* A SCRIPT LOAD that has no answer yet: one is enough for all calls that were sent before it. */
struct loading {
    struct later_conn *redis; /* NULL: none */
};

struct later_conn {
    struct later_redis base;
    redisReader *reader;
    struct pending *first, *last; /* in the order of their answers */
    struct pending *unsent;       /* the first one with bytes to send, or NULL */
    double earliest;              /* no deadline is before it; each send asks for it */
    double piece; /* when the last piece came of an answer that is not whole; or 0 */
    struct loading loading[2][LATER_SCRIPT_COUNT]; /* [1]: of those that tell */
    double connect_deadline;
    struct later_address at;          /* where the connection goes: a Sentinel, or the Redis */
    struct later_turns turns;         /* of the Sentinels; count 0 = without */
    bool asking;                      /* connected to a Sentinel, or about to be */
    bool named;                       /* it has named a Redis: `at`, base.peer */
    double named_at, patience;        /* when; how old that word may be once the Redis answers */
    unsigned which, tried, addresses; /* of the host: where to begin, how many now, of how many */
    int broken;                       /* errno of a write; what had come before is read first */
    struct later_tls *tls;            /* NULL: plain, or not connected yet */
    bool more;                        /* TLS has bytes that the socket no longer shows */
    bool blocks;                      /* a read of the socket may wait */
    bool waits;                       /* the next one shall */
    char why[320];                    /* a handshake that was refused */
    char load_why[256];               /* a SCRIPT LOAD that was refused */
};

/* --- conn.c: commands that have no answer yet */

/* Take out the first of them; append one; free one that gets no answer. */
struct pending *later_conn_pop(struct later_conn *redis);
void later_conn_append(struct later_conn *redis, struct pending *pending);
void later_conn_forget(struct pending *pending);

/* Closes the socket. */
void later_conn_hang_up(struct later_conn *redis);

/* As later_redis_send(), in any state. */
int later_conn_enqueue(struct later_conn *redis, struct later_command *cmd, double timeout,
                       later_answer_fn *fn, void *arg);

/* The connection is over: closes it and answers everything outstanding. */
void later_conn_disconnect(struct later_conn *redis, const char *why);

/* Calls its function, then frees it; reply is taken over. */
void later_conn_answer(struct pending *pending, enum later_answer_outcome outcome,
                       enum later_remedy remedy, struct later_reply *reply, const char *text);

/* The connection has failed: goes on to the next Sentinel if this was one, else ends it. The second
 * adds errno's words, or says what TLS has found. */
void later_conn_fail(struct later_conn *redis, const char *why);
void later_conn_fail_errno(struct later_conn *redis, const char *what);

/* --- conn_io.c: of the table */

void later_conn_flush(struct later_redis *base);
void later_conn_handle(struct later_redis *base);
bool later_conn_read(struct later_redis *base);

/* --- conn_dial.c: connecting */

int later_conn_connect(struct later_redis *base, struct later_error *err);

/* CONNECTING: true once the socket is connected and the handshake queued. */
bool later_conn_finish(struct later_conn *redis);

/* Goes on with the next Sentinel, from a Sentinel to the Redis that it named, or begins with the
 * Sentinels anew, since what they said is old. */
bool later_conn_ask_next(struct later_conn *redis);
void later_conn_follow(struct later_conn *redis);
void later_conn_ask_again(struct later_conn *redis);

/* Has the Redis answered so late that what the Sentinel said is old? */
bool later_conn_is_late(struct later_conn *redis);

#endif
