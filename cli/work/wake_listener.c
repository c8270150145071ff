/* wake_listener.c: waits for wakes. */
#include "work/wake_listener.h"

#include "base/clock.h"
#include "queue/inspect.h"
#include "work/take.h"

#include <string.h>

#define WAKE_WAIT    2.0 /* seconds of one BLPOP */
#define WAKE_TIMEOUT 4.0 /* seconds after which its answer is overdue */

/* --- the connections --- */

static int open_connection(struct wake_listener *listener, struct later_error *err)
{
    const struct where *where = &listener->cli->where;
    struct wake_connection *conn = &listener->each[listener->count];
    struct later_client_options options = {
        .url = where->url,
        .password_file = where->password_file[0] ? where->password_file : NULL,
        .prefix = where->prefix,
        .name = "later-wake",
        .timeout = WAKE_TIMEOUT,
    };

    *conn = (struct wake_connection){ .all = listener, .first = listener->queue_count };
    conn->client = later_client_open_with(&options, err);
    if (!conn->client)
        return -1;
    listener->count++;
    return 0;
}

int wake_listener_add(struct wake_listener *listener, const struct later_keys *keys,
                      struct later_error *err)
{
    struct later_client *client = cli_client(listener->cli, err);

    if (!client)
        return -1;
    if ((listener->count == 0 || later_redis_is_cluster(later_call_redis(client))) &&
        open_connection(listener, err) < 0)
        return -1;
    listener->each[listener->count - 1].count++;
    listener->queues[listener->queue_count++] = keys;
    return 0;
}

void wake_listener_close(struct wake_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++)
        later_client_close(listener->each[i].client);
    listener->count = listener->queue_count = 0;
}

/* --- waiting --- */

static void take_wake(void *arg, struct later_answer *answer)
{
    struct wake_connection *conn = arg;
    struct wake_listener *listener = conn->all;
    const char *key = later_reply_text(later_reply_at(answer->reply, 0), NULL);

    conn->waiting = false;
    if (answer->outcome == LATER_REFUSED)
        conn->not_before = later_clock() + WAKE_WAIT;
    if (answer->outcome != LATER_ANSWERED || later_reply_count(answer->reply) == 0)
        return;
    for (size_t i = conn->first; i < conn->first + conn->count; i++) {
        if (strcmp(listener->queues[i]->name[LATER_KEY_WAKE], key) == 0)
            listener->woken[i] = true;
    }
}

void wake_listener_wait(struct wake_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        struct wake_connection *conn = &listener->each[i];
        struct later_command cmd = { 0 };
        struct later_error ignored; /* the other connection reports that Redis is away */

        if (conn->waiting || later_clock() < conn->not_before)
            continue;
        later_inspect_wait(&cmd, listener->queues + conn->first, conn->count, WAKE_WAIT);
        conn->waiting = later_call_begin(conn->client, &cmd, take_wake, conn, &ignored) == 0;
    }
}

size_t wake_listener_poll(struct wake_listener *listener, struct pollfd polled[WAKE_LISTENER_MAX])
{
    for (size_t i = 0; i < listener->count; i++) {
        struct later_redis *redis = later_call_redis(listener->each[i].client);

        later_redis_flush(redis);
        polled[i] = (struct pollfd){
            .fd = later_redis_fd(redis),
            .events = (short)(later_redis_wants_write(redis) ? POLLIN | POLLOUT : POLLIN),
        };
    }
    return listener->count;
}

void wake_listener_handle(struct wake_listener *listener,
                          const struct pollfd polled[WAKE_LISTENER_MAX])
{
    for (size_t i = 0; i < listener->count; i++) {
        struct later_redis *redis = later_call_redis(listener->each[i].client);

        if (polled[i].revents)
            later_redis_handle(redis);
        later_redis_tick(redis);
    }
}

/* --- the wakes --- */

void wake_listener_follow(struct wake_listener *listener, size_t i)
{
    listener->woken[i] = false;
}

static void wake_listener_put_back(struct wake_listener *listener)
{
    for (size_t i = 0; i < listener->queue_count; i++) {
        if (listener->woken[i])
            take_wake_back(listener->cli, listener->queues[i]);
        listener->woken[i] = false;
    }
}

static void wake_listener_unwait(struct wake_listener *listener, struct wake_connection *conn)
{
    const struct later_redis *redis = later_call_redis(conn->client);
    struct later_command cmd = { 0 };
    struct later_error ignored;

    if (later_redis_is_cluster(redis)) {
        later_call_abort(conn->client);
        return;
    }
    if (later_redis_id(redis) > 0) {
        later_command_say(&cmd, "CLIENT UNBLOCK %ju", (uintmax_t)later_redis_id(redis));
        later_reply_free(cli_call(listener->cli, &cmd, &ignored));
    }
    (void)later_call_drain(conn->client, 0, &ignored);
}

void wake_listener_stop(struct wake_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        if (listener->each[i].waiting)
            wake_listener_unwait(listener, &listener->each[i]);
    }
    wake_listener_put_back(listener);
}
