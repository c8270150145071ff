/* conn.c: one connection to Redis: its life, and the commands that wait for answers. */
#include "redis/conn_inner.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct later_conn *later_conn_new(const struct later_redis_options *options)
{
    struct later_conn *redis = calloc(1, sizeof *redis);

    if (!redis)
        return NULL;
    redis->options = *options;
    redis->at = options->address;
    later_turns_init(&redis->turns, later_address_sentinels(&options->address));
    redis->fd = -1;
    redis->patience = PATIENCE;
    if (redis->options.connect_timeout <= 0)
        redis->options.connect_timeout = 2;
    if (options->name)
        snprintf(redis->name, sizeof redis->name, "%s", options->name);
    if (options->protocol)
        snprintf(redis->protocol, sizeof redis->protocol, "%s", options->protocol);
    if (options->password && !(redis->password = strdup(options->password))) {
        free(redis);
        return NULL;
    }
    return redis;
}

struct later_conn *later_conn_twin(const struct later_conn *redis)
{
    return later_conn_new(
        &(struct later_redis_options){ .address = redis->options.address,
                                       .password = redis->password,
                                       .name = redis->name,
                                       .connect_timeout = redis->options.connect_timeout });
}

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
    redis->count--;
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
    redis->count++;
}

void later_conn_answer(struct pending *pending, enum later_outcome outcome,
                       enum later_remedy remedy, redisReply *reply, const char *text)
{
    struct later_answer told = { .outcome = outcome,
                                 .remedy = remedy,
                                 .reply = (struct later_reply *)(void *)reply,
                                 .text = text,
                                 .cmd = &pending->cmd };

    if (pending->fn)
        pending->fn(pending->arg, &told);
    later_reply_free(told.reply);
    later_conn_forget(pending);
}

/* Closes and answers everything outstanding. The list is taken off first, so that an answer's
 * function finds a connection that is down and empty. */
void later_conn_disconnect(struct later_conn *redis, const char *why)
{
    struct pending *list = redis->first;
    char text[512];

    if (redis->state == DOWN)
        return;
    snprintf(text, sizeof text, "%s", why); /* why may be in what is freed now */
    close(redis->fd);
    redisReaderFree(redis->reader);
    redis->fd = -1;
    redis->reader = NULL;
    redis->state = DOWN;
    redis->first = redis->last = redis->unsent = NULL;
    redis->count = 0;
    redis->id = 0;
    redis->broken = 0;
    redis->asking = redis->named = false;
    redis->peer[0] = '\0';
    while (list) {
        struct pending *next = list->next;

        later_conn_answer(list, list->sent ? LATER_UNKNOWN : LATER_UNSENT, LATER_REMEDY_RECONNECT,
                          NULL, text);
        list = next;
    }
    if (redis->options.down)
        redis->options.down(redis->options.arg, text);
}

/* It does not work here: on to the next Sentinel, if it was one; else it is over. */
void later_conn_fail(struct later_conn *redis, const char *why)
{
    char text[512];

    snprintf(text, sizeof text, "%s", why);
    if (redis->state != DOWN && redis->asking && redis->state != UP) {
        if (later_conn_ask_next(redis))
            return;
        snprintf(text, sizeof text, "no Sentinel answers; the last: %.100s:%s: %.340s",
                 redis->at.host, redis->at.port, why);
    } else if (redis->state != DOWN && redis->turns.count && redis->state != UP) {
        later_turns_wrong(&redis->turns);
        snprintf(text, sizeof text, "%.100s: %.340s", redis->peer, why);
    }
    later_conn_disconnect(redis, text);
}

void later_conn_fail_errno(struct later_conn *redis, const char *what)
{
    char text[160];

    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    later_conn_fail(redis, text);
}

static void forget_password(struct later_conn *redis)
{
    if (redis->password)
        explicit_bzero(redis->password, strlen(redis->password));
    free(redis->password);
    redis->password = NULL;
}

void later_conn_free(struct later_conn *redis)
{
    if (!redis)
        return;
    redis->options.down = NULL;
    later_conn_disconnect(redis, "closed");
    forget_password(redis);
    free(redis);
}

int later_conn_password(struct later_conn *redis, const char *password)
{
    char *copy = password ? strdup(password) : NULL;

    if (password && !copy)
        return -1;
    forget_password(redis);
    redis->password = copy;
    return 0;
}

const char *later_conn_peer(const struct later_conn *redis)
{
    return redis->peer;
}

bool later_conn_up(const struct later_conn *redis)
{
    return redis->state == UP;
}

bool later_conn_down(const struct later_conn *redis)
{
    return redis->state == DOWN;
}

bool later_conn_other_protocol(const struct later_conn *redis)
{
    return redis->other_protocol;
}

int64_t later_conn_id(const struct later_conn *redis)
{
    return redis->id;
}

double later_conn_since(const struct later_conn *redis)
{
    return redis->since;
}

size_t later_conn_pending(const struct later_conn *redis)
{
    return redis->count;
}

int later_conn_enqueue(struct later_conn *redis, struct later_command *cmd, int script,
                       double timeout, later_answer_fn *fn, void *arg)
{
    struct pending *pending;

    if (!later_command_ready(cmd) || !(pending = calloc(1, sizeof *pending))) {
        later_command_free(cmd);
        return -1;
    }
    pending->cmd = *cmd;
    *cmd = (struct later_command){ 0 };
    pending->script = script;
    pending->timeout = timeout;
    pending->deadline = later_clock() + timeout;
    pending->fn = fn;
    pending->arg = arg;
    later_conn_append(redis, pending);
    return 0;
}

int later_conn_send(struct later_conn *redis, struct later_command *cmd, int script, double timeout,
                    later_answer_fn *fn, void *arg)
{
    if (redis->state != UP) {
        later_command_free(cmd);
        return -1;
    }
    return later_conn_enqueue(redis, cmd, script, timeout, fn, arg);
}

/* --- for the owner's loop --- */

int later_conn_fd(const struct later_conn *redis)
{
    return redis->fd;
}

bool later_conn_wants_write(const struct later_conn *redis)
{
    return redis->state == CONNECTING || (redis->unsent && !redis->broken);
}

double later_conn_deadline(const struct later_conn *redis)
{
    double deadline = INFINITY;

    if (redis->broken)
        return 0; /* at once */
    for (const struct pending *p = redis->first; p; p = p->next) {
        if (p->deadline < deadline)
            deadline = p->deadline;
    }
    if ((redis->state == CONNECTING || redis->state == HANDSHAKE) &&
        redis->connect_deadline < deadline)
        deadline = redis->connect_deadline;
    return redis->state == DOWN ? INFINITY : deadline;
}

void later_conn_tick(struct later_conn *redis)
{
    if (later_clock() < later_conn_deadline(redis))
        return;
    if (redis->broken)
        later_conn_handle(redis);
    else
        later_conn_fail(redis, redis->state == UP ? "no answer in time" : "no connection in time");
}
