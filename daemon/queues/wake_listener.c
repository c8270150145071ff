/* wake_listener.c: one waiting connection per queue. */
#include "queues/wake_listener.h"

#include "link/link.h"
#include "log.h"
#include "redis/script.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

/* One BLPOP: short, since a node that has stopped, or is no master any more, is found out by its
 * silence only, and nobody hears the wakes at its successor until then. */
#define WAIT_SECONDS  1.0
#define SLACK_SECONDS 1.0 /* for its answer */
#define AGAIN_SECONDS 0.1 /* after one that failed */

struct listener {
    struct wake_listener *wake_listener;
    struct later_keys keys;
    struct link *link;
    struct timer *again;
    bool waiting; /* a BLPOP is out */
};

struct wake_listener {
    struct wake_listener_options options;
    struct listener *list;
    size_t count;
    bool freed; /* what is answered from now on concerns nobody */
};

static void listen_for(struct listener *listener);

static void on_answer(void *arg, struct later_answer *answer)
{
    struct listener *listener = arg;
    struct wake_listener *wake_listener = listener->wake_listener;
    bool came = later_reply_count(answer->reply) > 0;

    listener->waiting = false;
    if (wake_listener->freed)
        return;
    if (answer->outcome != LATER_ANSWERED) {
        if (answer->outcome == LATER_REFUSED)
            log_line(LOG_DEBUG, "redis refuses to wait for queue %s: %s", listener->keys.queue,
                     answer->text);
        if (answer->remedy == LATER_REMEDY_RECONNECT && answer->outcome == LATER_REFUSED)
            link_break(listener->link, answer->text);
        timer_in(listener->again, AGAIN_SECONDS);
        return;
    }
    if (came && !wake_listener->options.call(wake_listener->options.arg, listener->keys.queue))
        link_wake(listener->link, &listener->keys);
    listen_for(listener);
}

/* Where nobody is idle, wake_listener_idle() comes when somebody is. */
static void listen_for(struct listener *listener)
{
    struct later_command cmd = { 0 };

    if (listener->waiting || !link_is_up(listener->link) ||
        !listener->wake_listener->options.idle(listener->wake_listener->options.arg,
                                               listener->keys.queue))
        return;
    later_command_begin(&cmd, 3);
    later_command_text(&cmd, "BLPOP");
    later_command_text(&cmd, listener->keys.name[LATER_KEY_WAKE]);
    later_command_seconds(&cmd, WAIT_SECONDS);
    listener->waiting = link_send(listener->link, &cmd, LATER_NO_SCRIPT,
                                  WAIT_SECONDS + SLACK_SECONDS, on_answer, listener) == 0;
    link_flush(listener->link);
}

static void on_again(void *arg)
{
    listen_for(arg);
}

static void on_up(void *arg)
{
    listen_for(arg);
}

void wake_listener_idle(struct wake_listener *wake_listener)
{
    for (size_t i = 0; wake_listener && i < wake_listener->count; i++)
        listen_for(&wake_listener->list[i]);
}

static struct listener *find(struct wake_listener *wake_listener, const char *queue)
{
    for (size_t i = 0; wake_listener && i < wake_listener->count; i++) {
        if (strcmp(wake_listener->list[i].keys.queue, queue) == 0)
            return &wake_listener->list[i];
    }
    return NULL;
}

void wake_listener_uncalled(struct wake_listener *wake_listener, const char *queue)
{
    struct listener *listener = find(wake_listener, queue);

    if (listener && link_is_up(listener->link))
        link_wake(listener->link, &listener->keys);
}

void wake_listener_count(const struct wake_listener *wake_listener, struct connections *connections)
{
    for (size_t i = 0; wake_listener && i < wake_listener->count; i++)
        connections_add(connections, link_redis(wake_listener->list[i].link));
}

/* --- making and unmaking --- */

bool wake_listener_wanted(const struct config *config)
{
    struct later_address address;
    struct later_error ignored;
    char url[512];

    link_url(config, url, sizeof url);
    return later_address_parse(&address, url, &ignored) == 0 && address.cluster;
}

static int add(struct wake_listener *wake_listener, struct event_base *base,
               const struct config *config, const char *queue, struct later_error *err)
{
    struct listener *listener = &wake_listener->list[wake_listener->count];
    const struct link_options options = {
        .what = "wake listener", .quiet = true, .up = on_up, .arg = listener
    };

    *listener = (struct listener){ .wake_listener = wake_listener };
    later_keys_init(&listener->keys, config->redis.prefix, queue);
    listener->again = timer_new(base, on_again, listener);
    if (!listener->again)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    wake_listener->count++;
    listener->link = link_new(base, config, &options, err);
    return listener->link ? 0 : -1;
}

/* Every queue of every pool once. */
static int add_all(struct wake_listener *wake_listener, struct event_base *base,
                   const struct config *config, struct later_error *err)
{
    size_t most = 0;

    for (uint32_t p = 0; p < config->pool_count; p++)
        most += config->pools[p].queue_count;
    wake_listener->list = calloc(most ? most : 1, sizeof *wake_listener->list);
    if (!wake_listener->list)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            const char *name = config->pools[p].queues[q].name;

            if (!find(wake_listener, name) && add(wake_listener, base, config, name, err) < 0)
                return -1;
        }
    }
    return 0;
}

struct wake_listener *wake_listener_new(struct event_base *base, const struct config *config,
                                        const struct wake_listener_options *options,
                                        struct later_error *err)
{
    struct wake_listener *wake_listener = calloc(1, sizeof *wake_listener);

    if (!wake_listener) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    wake_listener->options = *options;
    if (add_all(wake_listener, base, config, err) < 0) {
        wake_listener_free(wake_listener);
        return NULL;
    }
    return wake_listener;
}

void wake_listener_free(struct wake_listener *wake_listener)
{
    if (!wake_listener)
        return;
    wake_listener->freed = true;
    for (size_t i = 0; i < wake_listener->count; i++) {
        link_free(wake_listener->list[i].link);
        timer_free(wake_listener->list[i].again);
    }
    free(wake_listener->list);
    free(wake_listener);
}
