/* wake_listener.c: a waiting connection for each few queues; on a Cluster for each. */
#include "queues/wake_listener.h"

#include "base/names.h"
#include "link/link.h"
#include "log.h"
#include "redis/script.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

/* One BLPOP. Short on a Cluster, since a node that has stopped, or is no master any more, is found
 * out by its silence only, and nobody hears the wakes at its successor until then. */
#define WAIT_APART    1.0
#define WAIT_SECONDS  5.0
#define WAIT_ROOM     0.3 /* with room for a queue that joins: it is in the next one */
#define SLACK_SECONDS 1.0 /* for its answer */
#define AGAIN_SECONDS 0.1 /* after one that failed */

struct listener {
    struct wake_listener *wake_listener;
    uint32_t pools;                /* a bit for each that serves these queues */
    const char *names[WAKE_GROUP]; /* of queues; borrowed */
    char *keys[WAKE_GROUP];        /* of their wakes */
    size_t count;
    struct link *link;
    struct timer *again;
    bool waiting; /* a BLPOP is out */
    bool follows; /* its queues may become more */
};

struct heard {
    const char *name; /* borrowed */
    uint32_t pools;
    struct listener *listener;
};

struct wake_listener {
    struct wake_listener_options options;
    const struct config *config;
    struct event_base *base;
    struct listener **list;
    size_t count;
    struct later_names heard; /* queues */
    bool freed;               /* what is answered from now on concerns nobody */
};

static void wake_listener_keys_of(const struct wake_listener *wake_listener, const char *queue,
                                  struct later_keys *keys)
{
    later_keys_init(keys, wake_listener->config->redis.prefix, queue);
}

static void listen_for(struct listener *listener);

static void wake_listener_return_one(const struct listener *listener, const char *queue)
{
    struct later_keys keys;

    wake_listener_keys_of(listener->wake_listener, queue, &keys);
    link_wake(listener->link, &keys);
}

static void wake_listener_on_wake(struct listener *listener, const struct later_reply *reply)
{
    const struct wake_listener *wake_listener = listener->wake_listener;
    const char *key = later_reply_text(later_reply_at(reply, 0), NULL);
    char queue[LATER_QUEUE_MAX + 1];
    const struct heard *heard = NULL;

    if (later_key_tag(queue, sizeof queue, key))
        heard = later_names_find(&wake_listener->heard, queue);
    if (heard &&
        !wake_listener->options.call(wake_listener->options.arg, heard->pools, heard->name))
        wake_listener_return_one(listener, heard->name);
}

static void wake_listener_on_answer(void *arg, struct later_answer *answer)
{
    struct listener *listener = arg;

    listener->waiting = false;
    if (listener->wake_listener->freed)
        return;
    if (answer->outcome != LATER_ANSWERED) {
        if (answer->outcome == LATER_REFUSED)
            log_line(LOG_DEBUG, "redis refuses to wait for queue %s: %s", listener->names[0],
                     answer->text);
        if (answer->remedy == LATER_REMEDY_RECONNECT && answer->outcome == LATER_REFUSED)
            link_break(listener->link, answer->text);
        timer_in(listener->again, AGAIN_SECONDS);
        return;
    }
    if (later_reply_count(answer->reply) > 0)
        wake_listener_on_wake(listener, answer->reply);
    listen_for(listener);
}

static double wait_of(const struct listener *listener)
{
    if (listener->wake_listener->options.all)
        return WAIT_APART;
    return listener->follows && listener->count < WAKE_GROUP ? WAIT_ROOM : WAIT_SECONDS;
}

/* Where nobody is idle, wake_listener_idle() comes when somebody is. */
static void listen_for(struct listener *listener)
{
    const struct wake_listener *wake_listener = listener->wake_listener;
    double wait = wait_of(listener);
    struct later_command cmd = { 0 };

    if (listener->waiting || !link_is_up(listener->link) ||
        !wake_listener->options.idle(wake_listener->options.arg, listener->pools))
        return;
    later_command_begin(&cmd, listener->count + 2);
    later_command_text(&cmd, "BLPOP");
    later_command_texts(&cmd, (const char *const *)listener->keys, listener->count);
    later_command_seconds(&cmd, wait);
    listener->waiting = link_send(listener->link, &cmd, wait + SLACK_SECONDS,
                                  wake_listener_on_answer, listener) == 0;
    link_flush(listener->link);
}

static void wake_listener_on_again(void *arg)
{
    listen_for(arg);
}

static void wake_listener_on_up(void *arg)
{
    listen_for(arg);
}

void wake_listener_idle(struct wake_listener *wake_listener)
{
    for (size_t i = 0; wake_listener && i < wake_listener->count; i++)
        listen_for(wake_listener->list[i]);
}

void wake_listener_moved(struct wake_listener *wake_listener, const char *peer)
{
    for (size_t i = 0; wake_listener && i < wake_listener->count; i++)
        link_moved(wake_listener->list[i]->link, peer);
}

void wake_listener_uncalled(struct wake_listener *wake_listener, const char *queue)
{
    const struct heard *heard =
        wake_listener ? later_names_find(&wake_listener->heard, queue) : NULL;

    if (heard && link_is_up(heard->listener->link))
        wake_listener_return_one(heard->listener, heard->name);
}

void wake_listener_count(const struct wake_listener *wake_listener, struct connections *connections)
{
    for (size_t i = 0; wake_listener && i < wake_listener->count; i++)
        connections_add(connections, link_redis(wake_listener->list[i]->link));
}

/* --- making and unmaking --- */

bool wake_listener_wanted(const struct config *config)
{
    struct later_address address;

    return link_address(config, &address) && address.cluster;
}

static struct listener *make_listener(struct wake_listener *wake_listener, uint32_t pools,
                                      struct later_error *err)
{
    struct listener *listener = calloc(1, sizeof *listener);
    struct listener **list =
        realloc(wake_listener->list, (wake_listener->count + 1) * sizeof *list);
    const struct link_options options = {
        .what = "wake listener", .quiet = true, .up = wake_listener_on_up, .arg = listener
    };

    if (list)
        wake_listener->list = list;
    if (!listener || !list ||
        !(listener->again = timer_new(wake_listener->base, wake_listener_on_again, listener))) {
        free(listener);
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    listener->wake_listener = wake_listener;
    listener->pools = pools;
    for (uint32_t p = 0; p < wake_listener->config->pool_count; p++)
        listener->follows =
            listener->follows || ((pools >> p & 1) && wake_listener->config->pools[p].followed);
    list[wake_listener->count++] = listener;
    listener->link = link_new(wake_listener->base, wake_listener->config, &options, err);
    return listener->link ? listener : NULL;
}

/* One of these pools that takes another queue; NULL: none. */
static struct listener *roomy(const struct wake_listener *wake_listener, uint32_t pools)
{
    for (size_t i = wake_listener->options.all ? 0 : wake_listener->count; i > 0; i--) {
        struct listener *listener = wake_listener->list[i - 1];

        if (listener->pools == pools && listener->count < WAKE_GROUP)
            return listener;
    }
    return NULL;
}

static int wake_listener_join(struct wake_listener *wake_listener, struct heard *heard,
                              struct later_error *err)
{
    struct listener *listener = roomy(wake_listener, heard->pools);
    struct later_keys keys;

    if (!listener)
        listener = make_listener(wake_listener, heard->pools, err);
    if (!listener)
        return -1;
    wake_listener_keys_of(wake_listener, heard->name, &keys);
    listener->keys[listener->count] = strdup(keys.name[LATER_KEY_WAKE]);
    if (!listener->keys[listener->count])
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    listener->names[listener->count++] = heard->name;
    heard->listener = listener;
    return 0;
}

/* Each once. Returns 0, or -1 without memory. */
static int hear_one(struct wake_listener *wake_listener, uint32_t p, const char *name)
{
    struct heard *heard = later_names_find(&wake_listener->heard, name);

    if (!heard) {
        heard = calloc(1, sizeof *heard);
        if (!heard || !later_names_add(&wake_listener->heard, name, heard)) {
            free(heard);
            return -1;
        }
        heard->name = name;
    }
    heard->pools |= (uint32_t)1 << p;
    return 0;
}

/* Those of one pool. */
static int hear(struct wake_listener *wake_listener, uint32_t p, struct later_error *err)
{
    const struct config_pool *pool = &wake_listener->config->pools[p];

    for (uint32_t q = 0; q < pool->queue_count; q++) {
        if (hear_one(wake_listener, p, pool->queues[q].name) < 0)
            return later_fail(err, LATER_E_SYSTEM, "no memory");
    }
    return 0;
}

static bool wake_listener_waits(const struct wake_listener *wake_listener,
                                const struct config_pool *pool)
{
    return wake_listener->options.all || config_pool_is_large(pool);
}

static int hear_all(struct wake_listener *wake_listener, struct later_error *err)
{
    const struct config *config = wake_listener->config;

    for (uint32_t p = 0; p < config->pool_count; p++) {
        if (wake_listener_waits(wake_listener, &config->pools[p]) &&
            hear(wake_listener, p, err) < 0)
            return -1;
    }
    for (uint32_t i = 0; i < wake_listener->heard.count; i++) {
        if (wake_listener_join(wake_listener, wake_listener->heard.items[i], err) < 0)
            return -1;
    }
    return 0;
}

int wake_listener_follow(struct wake_listener *wake_listener, uint32_t p)
{
    const struct config_pool *pool = &wake_listener->config->pools[p];
    uint32_t before = wake_listener->heard.count;
    struct later_error ignored;
    struct heard *heard;

    if (hear_one(wake_listener, p, pool->queues[pool->queue_count - 1].name) < 0)
        return -1;
    if (wake_listener->heard.count == before)
        return 0;
    heard = wake_listener->heard.items[before];
    if (wake_listener_join(wake_listener, heard, &ignored) < 0)
        return -1;
    listen_for(heard->listener);
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
    *wake_listener = (struct wake_listener){ .options = *options, .config = config, .base = base };
    if (hear_all(wake_listener, err) < 0) {
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
        link_free(wake_listener->list[i]->link);
        timer_free(wake_listener->list[i]->again);
        for (size_t k = 0; k < wake_listener->list[i]->count; k++)
            free(wake_listener->list[i]->keys[k]);
        free(wake_listener->list[i]);
    }
    later_names_free(&wake_listener->heard, free);
    free(wake_listener->list);
    free(wake_listener);
}
