/* waker.c: waiting for wakes. */
#include "work/waker.h"

#include "base/clock.h"
#include "queue/inspect.h"
#include "work/take.h"

#include <math.h>
#include <string.h>

#define WAKE_WAIT    2.0 /* seconds in one BLPOP */
#define WAKE_TIMEOUT 4.0 /* seconds until its answer is missed */

/* --- the connections --- */

static int open_waker(struct wakers *wakers, struct later_error *err)
{
    const struct where *where = &wakers->cli->where;
    struct waker *waker = &wakers->each[wakers->count];
    struct later_client_options options = {
        .url = where->url,
        .password_file = where->password_file[0] ? where->password_file : NULL,
        .prefix = where->prefix,
        .name = "later-wake",
        .timeout = WAKE_TIMEOUT,
    };

    *waker = (struct waker){ .all = wakers, .first = wakers->queue_count };
    waker->client = later_client_open_with(&options, err);
    if (!waker->client)
        return -1;
    wakers->count++;
    return 0;
}

int wakers_add(struct wakers *wakers, const struct later_keys *keys, struct later_error *err)
{
    struct later_client *client = cli_client(wakers->cli, err);

    if (!client)
        return -1;
    if ((wakers->count == 0 || later_redis_is_cluster(later_call_redis(client))) &&
        open_waker(wakers, err) < 0)
        return -1;
    wakers->each[wakers->count - 1].count++;
    wakers->queues[wakers->queue_count++] = keys;
    return 0;
}

void wakers_close(struct wakers *wakers)
{
    for (size_t i = 0; i < wakers->count; i++)
        later_client_close(wakers->each[i].client);
    wakers->count = wakers->queue_count = 0;
}

/* --- waiting --- */

static void take_wake(void *arg, struct later_answer *answer)
{
    struct waker *waker = arg;
    struct wakers *wakers = waker->all;
    const char *key = later_reply_text(later_reply_at(answer->reply, 0), NULL);

    waker->waiting = false;
    if (answer->outcome == LATER_REFUSED)
        waker->not_before = later_clock() + WAKE_WAIT;
    if (answer->outcome != LATER_ANSWERED || later_reply_count(answer->reply) == 0)
        return;
    for (size_t i = waker->first; i < waker->first + waker->count; i++) {
        if (strcmp(wakers->queues[i]->name[LATER_KEY_WAKE], key) == 0)
            wakers->woken[i] = true;
    }
}

void wakers_wait(struct wakers *wakers)
{
    for (size_t i = 0; i < wakers->count; i++) {
        struct waker *waker = &wakers->each[i];
        struct later_command cmd = { 0 };
        struct later_error ignored; /* the other connection tells that Redis is away */

        if (waker->waiting || later_clock() < waker->not_before)
            continue;
        later_inspect_wait(&cmd, wakers->queues + waker->first, waker->count, WAKE_WAIT);
        waker->waiting =
            later_call_begin(waker->client, &cmd, LATER_NO_SCRIPT, take_wake, waker, &ignored) == 0;
    }
}

size_t wakers_poll(struct wakers *wakers, struct pollfd polled[WAKERS_MAX])
{
    for (size_t i = 0; i < wakers->count; i++) {
        struct later_redis *redis = later_call_redis(wakers->each[i].client);

        later_redis_flush(redis);
        polled[i] = (struct pollfd){
            .fd = later_redis_fd(redis),
            .events = (short)(later_redis_wants_write(redis) ? POLLIN | POLLOUT : POLLIN),
        };
    }
    return wakers->count;
}

void wakers_handle(struct wakers *wakers, const struct pollfd polled[WAKERS_MAX])
{
    for (size_t i = 0; i < wakers->count; i++) {
        struct later_redis *redis = later_call_redis(wakers->each[i].client);

        if (polled[i].revents)
            later_redis_handle(redis);
        later_redis_tick(redis);
    }
}

double wakers_deadline(const struct wakers *wakers)
{
    double next = INFINITY;

    for (size_t i = 0; i < wakers->count; i++) {
        if (wakers->each[i].waiting)
            next = fmin(next, later_redis_deadline(later_call_redis(wakers->each[i].client)));
    }
    return next;
}

/* --- the wakes --- */

bool wakers_hold(const struct wakers *wakers)
{
    for (size_t i = 0; i < wakers->queue_count; i++) {
        if (wakers->woken[i])
            return true;
    }
    return false;
}

void wakers_follow(struct wakers *wakers, size_t i)
{
    wakers->woken[i] = false;
}

void wakers_put_back(struct wakers *wakers)
{
    for (size_t i = 0; i < wakers->queue_count; i++) {
        if (wakers->woken[i])
            take_wake_back(wakers->cli, wakers->queues[i]);
        wakers->woken[i] = false;
    }
}

static void stop(struct wakers *wakers, struct waker *waker)
{
    const struct later_redis *redis = later_call_redis(waker->client);
    struct later_command cmd = { 0 };
    struct later_error ignored;

    if (later_redis_is_cluster(redis)) {
        later_call_abort(waker->client);
        return;
    }
    if (later_redis_id(redis) > 0) {
        later_command_begin(&cmd, 3);
        later_command_text(&cmd, "CLIENT");
        later_command_text(&cmd, "UNBLOCK");
        later_command_int(&cmd, later_redis_id(redis));
        later_reply_free(cli_call(wakers->cli, &cmd, LATER_NO_SCRIPT, &ignored));
    }
    (void)later_call_drain(waker->client, 0, &ignored);
}

void wakers_stop(struct wakers *wakers)
{
    for (size_t i = 0; i < wakers->count; i++) {
        if (wakers->each[i].waiting)
            stop(wakers, &wakers->each[i]);
    }
    wakers_put_back(wakers);
}
