/* wake_listener.c: waits for wakes. */
#include "work/wake_listener.h"

#include "base/clock.h"
#include "queue/inspect.h"
#include "work/take.h"

#define WAKE_WAIT    2.0 /* seconds of one BLPOP */
#define WAKE_TIMEOUT 4.0 /* seconds after which its answer is overdue */

int wake_listener_add(struct wake_listener *listener, const struct later_keys *keys,
                      struct later_error *err)
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

    *conn = (struct wake_connection){ .keys = keys };
    conn->client = later_client_open_with(&options, err);
    listener->count += conn->client != NULL;
    return conn->client ? 0 : -1;
}

/* --- waiting --- */

static void take_wake(void *arg, struct later_answer *answer)
{
    struct wake_connection *conn = arg;

    conn->waiting = false;
    if (answer->outcome == LATER_REFUSED)
        conn->not_before = later_clock() + WAKE_WAIT;
    if (answer->outcome == LATER_ANSWERED && later_reply_count(answer->reply) > 0)
        conn->woken = true;
}

void wake_listener_wait(struct wake_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        struct wake_connection *conn = &listener->each[i];
        struct later_command cmd = { 0 };
        struct later_error ignored; /* the other connection reports that Redis is away */

        if (conn->waiting || later_clock() < conn->not_before)
            continue;
        later_inspect_wait(&cmd, &conn->keys, 1, WAKE_WAIT);
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
    listener->each[i].woken = false;
}

void wake_listener_close(struct wake_listener *listener)
{
    for (size_t i = 0; i < listener->count; i++) {
        struct wake_connection *conn = &listener->each[i];

        if (conn->waiting)
            later_call_abort(conn->client);
        if (conn->woken)
            take_wake_back(listener->cli, conn->keys);
        later_client_close(conn->client);
    }
    listener->count = 0;
}
