/* conn.c: one connection to Redis, and the commands that wait for answers. */
#include "redis/conn_inner.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void later_conn_forget(struct pending *pending)
{
    later_command_free(&pending->cmd);
    free(pending);
}

struct pending *later_conn_pop(struct later_conn *redis)
{
    struct pending *pending = redis->first;

    redis->first = pending->next;
    if (!redis->first)
        redis->last = NULL;
    if (redis->unsent == pending)
        redis->unsent = pending->next;
    redis->base.pending--;
    return pending;
}

void later_conn_append(struct later_conn *redis, struct pending *pending)
{
    pending->next = NULL;
    if (redis->last)
        redis->last->next = pending;
    else
        redis->first = pending;
    redis->last = pending;
    if (!redis->unsent)
        redis->unsent = pending;
    if (redis->base.pending++ == 0 || pending->deadline < redis->earliest)
        redis->earliest = pending->deadline;
}

void later_conn_answer(struct pending *pending, enum later_answer_outcome outcome,
                       enum later_remedy remedy, struct later_reply *reply, const char *text)
{
    struct later_answer told = {
        .outcome = outcome, .remedy = remedy, .reply = reply, .text = text, .cmd = &pending->cmd
    };

    if (pending->fn)
        pending->fn(pending->arg, &told);
    later_reply_free(told.reply);
    later_conn_forget(pending);
}

void later_conn_hang_up(struct later_conn *redis)
{
    later_tls_free(redis->tls);
    redis->tls = NULL;
    redis->more = redis->blocks = false;
    close(redis->base.fd);
    redis->base.fd = -1;
}

/* Closes the connection and answers everything that has no answer. The list is taken off first, so
 * that the callbacks find a connection that is down and empty. */
void later_conn_disconnect(struct later_conn *redis, const char *why)
{
    struct pending *list = redis->first;
    char text[512];

    if (redis->base.state == DOWN)
        return;
    snprintf(text, sizeof text, "%s", why); /* why may point into what is freed now */
    later_conn_hang_up(redis);
    redisReaderFree(redis->reader);
    redis->reader = NULL;
    redis->base.state = DOWN;
    redis->first = redis->last = redis->unsent = NULL;
    redis->base.pending = 0;
    redis->base.id = 0;
    redis->broken = 0;
    redis->asking = redis->named = false;
    redis->base.peer[0] = '\0';
    while (list) {
        struct pending *next = list->next;

        later_conn_answer(list, list->sent ? LATER_UNKNOWN : LATER_UNSENT, LATER_REMEDY_RECONNECT,
                          NULL, text);
        list = next;
    }
    if (redis->base.options.down)
        redis->base.options.down(redis->base.options.arg, text);
}

/* It has failed here: goes on to the next Sentinel, if this was one, or else disconnects. */
void later_conn_fail(struct later_conn *redis, const char *why)
{
    char text[512];

    snprintf(text, sizeof text, "%s", why);
    if (redis->base.state != DOWN && redis->asking && redis->base.state != UP) {
        if (later_conn_ask_next(redis))
            return;
        snprintf(text, sizeof text, "no Sentinel answers; the last: %.100s:%s: %.340s",
                 redis->at.host, redis->at.port, why);
    } else if (redis->base.state != DOWN && redis->turns.count && redis->base.state != UP) {
        later_turns_wrong(&redis->turns);
        snprintf(text, sizeof text, "%.100s: %.340s", redis->base.peer, why);
    }
    later_conn_disconnect(redis, text);
}

void later_conn_fail_errno(struct later_conn *redis, const char *what)
{
    char text[LATER_TLS_WHY];

    if (redis->tls && *later_tls_why(redis->tls))
        snprintf(text, sizeof text, "%s", later_tls_why(redis->tls));
    else
        snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    later_conn_fail(redis, text);
}

int later_conn_enqueue(struct later_conn *redis, struct later_command *cmd, double timeout,
                       later_answer_fn *fn, void *arg)
{
    struct pending *pending;

    if (!later_command_ready(cmd) || !(pending = calloc(1, sizeof *pending))) {
        later_command_free(cmd);
        return -1;
    }
    pending->cmd = *cmd;
    *cmd = (struct later_command){ 0 };
    pending->timeout = timeout;
    pending->deadline = later_clock() + timeout;
    pending->fn = fn;
    pending->arg = arg;
    later_conn_append(redis, pending);
    return 0;
}

static int conn_send_command(struct later_redis *base, struct later_command *cmd, double timeout,
                             later_answer_fn *fn, void *arg)
{
    return later_conn_enqueue((struct later_conn *)base, cmd, timeout, fn, arg);
}

/* --- for the owner's loop --- */

static bool wants_write(const struct later_redis *base)
{
    const struct later_conn *redis = (const struct later_conn *)base;
    bool writing = base->state == CONNECTING || (redis->unsent && !redis->broken);

    return redis->tls ? later_tls_watches(redis->tls, writing) : writing;
}

/* That of a command answered since may still be the earliest: somebody looks once in vain then,
 * which costs less than to go through thousands of commands after each answer. While a large answer
 * comes over a slow line, neither it nor those behind it are late. */
static double conn_deadline_of(struct later_redis *base)
{
    struct later_conn *redis = (struct later_conn *)base;

    if (redis->broken || redis->more)
        return 0; /* at once */
    if (!redis->first || redis->earliest <= later_clock()) {
        redis->earliest = INFINITY;
        for (const struct pending *p = redis->first; p; p = p->next)
            redis->earliest = fmin(redis->earliest, fmax(p->deadline, redis->piece + p->timeout));
    }
    return base->state == UP ? redis->earliest : fmin(redis->earliest, redis->connect_deadline);
}

/* A plain Redis takes the beginning of a handshake for a command that is not complete yet. */
static const char *too_late(const struct later_conn *redis)
{
    if (redis->base.state == UP)
        return "no answer in time";
    return redis->base.state == CONNECTING && redis->tls
               ? "TLS: no handshake in time: is this the server's tls-port?"
               : "no connection in time";
}

static void conn_tick(struct later_redis *base)
{
    struct later_conn *redis = (struct later_conn *)base;
    double deadline = later_redis_deadline(base);

    if (isinf(deadline) || later_clock() < deadline)
        return;
    if (redis->broken || redis->more)
        later_conn_handle(base);
    else
        later_conn_fail(redis, too_late(redis));
}

/* --- making --- */

static void conn_disconnect(struct later_redis *base, const char *why)
{
    later_conn_disconnect((struct later_conn *)base, why);
}

struct later_redis *later_conn_new(const struct later_redis_options *options)
{
    static const struct later_redis_table table = { .new = later_conn_new,
                                                    .connect = later_conn_connect,
                                                    .disconnect = conn_disconnect,
                                                    .send = conn_send_command,
                                                    .flush = later_conn_flush,
                                                    .wants_write = wants_write,
                                                    .deadline = conn_deadline_of,
                                                    .handle = later_conn_handle,
                                                    .tick = conn_tick,
                                                    .read = later_conn_read };
    struct later_conn *redis = calloc(1, sizeof *redis);

    if (!redis || later_redis_init(&redis->base, &table, options) < 0) {
        free(redis);
        return NULL;
    }
    redis->at = options->address;
    later_turns_init(&redis->turns, later_address_sentinels(&options->address));
    redis->patience = PATIENCE;
    return &redis->base;
}
