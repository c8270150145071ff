/* wake_listener.c: a waiting connection for each few queues; on a Cluster for each. */
#include "queues/wake_listener.h"

#include "log.h"
#include "queues/queues.h"
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
    struct queues *queues;
    uint32_t pools; /* a bit for each that serves these queues */
    struct queue *heard[WAKE_GROUP];
    size_t count;
    struct link *link;
    struct timer *again;
    bool waiting; /* a BLPOP is out */
    bool follows; /* its queues may become more */
    bool freed;   /* what is answered from now on concerns nobody */
};

struct wake_listener {
    struct listener **list;
    size_t count;
};

static void listen_for(struct listener *listener);

static void wake_listener_on_wake(const struct listener *listener, const struct later_reply *reply)
{
    struct queues *queues = listener->queues;
    const char *key = later_reply_text(later_reply_at(reply, 0), NULL);
    char name[LATER_QUEUE_MAX + 1];
    const struct queue *queue =
        later_key_tag(name, sizeof name, key) ? queues_find(queues, name) : NULL;

    if (queue && !queues->options.call(queues->options.arg, queue->wake.pools, queue->keys.queue))
        link_wake(listener->link, &queue->keys);
}

static void wake_listener_on_answer(void *arg, struct later_answer *answer)
{
    struct listener *listener = arg;

    listener->waiting = false;
    if (listener->freed)
        return;
    if (answer->outcome != LATER_ANSWERED) {
        if (answer->outcome == LATER_REFUSED)
            log_line(LOG_DEBUG, "redis refuses to wait for queue %s: %s",
                     listener->heard[0]->keys.queue, answer->text);
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
    if (listener->queues->options.all)
        return WAIT_APART;
    return listener->follows && listener->count < WAKE_GROUP ? WAIT_ROOM : WAIT_SECONDS;
}

/* Where nobody is idle, wake_listener_idle() comes when somebody is. */
static void listen_for(struct listener *listener)
{
    const struct queues_options *options = &listener->queues->options;
    double wait = wait_of(listener);
    struct later_command cmd = { 0 };

    if (listener->waiting || !link_is_up(listener->link) ||
        !options->idle(options->arg, listener->pools))
        return;
    later_command_open(&cmd, listener->count + 1, "BLPOP");
    for (size_t i = 0; i < listener->count; i++)
        later_command_text(&cmd, listener->heard[i]->keys.name[LATER_KEY_WAKE]);
    later_command_seconds(&cmd, wait);
    listener->waiting = link_send(listener->link, &cmd, wait + SLACK_SECONDS,
                                  wake_listener_on_answer, listener) == 0;
    link_flush(listener->link);
}

static void wake_listener_on_may(void *arg)
{
    listen_for(arg);
}

void wake_listener_idle(struct queues *queues)
{
    for (size_t i = 0; i < queues->wake_listener->count; i++)
        listen_for(queues->wake_listener->list[i]);
}

void wake_listener_uncalled(struct queues *queues, const char *name)
{
    const struct queue *queue = queues_find(queues, name);

    if (queue && queue->wake.listener && link_is_up(queue->wake.listener->link))
        link_wake(queue->wake.listener->link, &queue->keys);
}

static void wake_listener_moved(struct queues *queues, const char *peer)
{
    for (size_t i = 0; i < queues->wake_listener->count; i++)
        link_moved(queues->wake_listener->list[i]->link, peer);
}

static void wake_listener_count(const struct queues *queues, struct connections *connections)
{
    for (size_t i = 0; i < queues->wake_listener->count; i++)
        connections_add(connections, link_redis(queues->wake_listener->list[i]->link));
}

/* --- listeners --- */

bool wake_listener_wanted(const struct config *config)
{
    struct later_address address;

    return link_address(config, &address) && address.cluster;
}

static void free_listener(struct listener *listener)
{
    listener->freed = true;
    link_free(listener->link);
    timer_free(listener->again);
    free(listener);
}

static bool listener_follows(const struct config *config, uint32_t pools)
{
    for (uint32_t p = 0; p < config->pool_count; p++) {
        if ((pools >> p & 1) && config->pools[p].followed)
            return true;
    }
    return false;
}

static struct listener *make_listener(struct queues *queues, uint32_t pools)
{
    struct wake_listener *wake_listener = queues->wake_listener;
    struct listener *listener = calloc(1, sizeof *listener);
    struct listener **list =
        realloc(wake_listener->list, (wake_listener->count + 1) * sizeof *list);
    const struct link_options link = {
        .what = "wake listener", .quiet = true, .up = wake_listener_on_may, .arg = listener
    };
    struct later_error err;

    if (list)
        wake_listener->list = list;
    if (listener) {
        listener->queues = queues;
        listener->pools = pools;
        listener->follows = listener_follows(queues->config, pools);
        listener->again = timer_new(queues->base, wake_listener_on_may, listener);
        listener->link = link_new(queues->base, queues->config, &link, &err);
    }
    if (listener && listener->again && listener->link && list)
        return list[wake_listener->count++] = listener;
    if (listener)
        free_listener(listener);
    return NULL;
}

/* One of these pools that takes another queue; NULL: none. */
static struct listener *roomy(const struct queues *queues, uint32_t pools)
{
    const struct wake_listener *wake_listener = queues->wake_listener;

    for (size_t i = queues->options.all ? 0 : wake_listener->count; i > 0; i--) {
        struct listener *listener = wake_listener->list[i - 1];

        if (listener->pools == pools && listener->count < WAKE_GROUP)
            return listener;
    }
    return NULL;
}

/* Returns 0, or -1 if it has no connection. */
static int wake_listener_join(struct queue *queue)
{
    struct listener *listener = roomy(queue->queues, queue->wake.pools);

    if (!listener)
        listener = make_listener(queue->queues, queue->wake.pools);
    if (!listener)
        return -1;
    listener->heard[listener->count++] = queue;
    queue->wake.listener = listener;
    return 0;
}

static void leave_all(struct queues *queues)
{
    struct wake_listener *wake_listener = queues->wake_listener;

    for (size_t i = 0; i < wake_listener->count; i++) {
        for (size_t q = 0; q < wake_listener->list[i]->count; q++)
            wake_listener->list[i]->heard[q]->wake.listener = NULL;
        free_listener(wake_listener->list[i]);
    }
    wake_listener->count = 0;
}

/* --- which queues --- */

static bool wake_listener_waits(const struct queues *queues, const struct config_pool *pool)
{
    return queues->options.all || config_pool_is_large(pool);
}

/* Notes which pools serve each queue for which we wait. Returns whether that has changed. */
static bool note_pools(struct queues *queues)
{
    const struct config *config = queues->config;
    bool changed = false;

    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];

        for (uint32_t q = 0; q < pool->queue_count && wake_listener_waits(queues, pool); q++) {
            struct queue *queue = queues_find(queues, pool->queues[q].name);

            if (queue)
                queue->wake.next |= (uint32_t)1 << p;
        }
    }
    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct wake *wake = &queues_at(queues, i)->wake;

        changed = changed || wake->pools != wake->next;
        wake->pools = wake->next;
        wake->next = 0;
    }
    return changed;
}

/* Where other queues are waited for, all is made anew: a BLPOP that is out waits for the former
 * ones. */
void wake_listener_configure(struct queues *queues)
{
    bool failed = false;

    if (!note_pools(queues)) {
        for (size_t i = 0; i < queues->wake_listener->count; i++) {
            struct listener *listener = queues->wake_listener->list[i];

            listener->follows = listener_follows(queues->config, listener->pools);
        }
        return;
    }
    leave_all(queues);
    for (uint32_t i = 0; i < queues->names.count; i++) {
        struct queue *queue = queues_at(queues, i);

        failed = (queue->wake.pools && wake_listener_join(queue) < 0) || failed;
    }
    if (failed)
        log_line(LOG_ERROR, "no connection to wait for wakes; jobs are found later than they could "
                            "be, until the next reload");
}

/* A pattern has matched it: it is the last of its pool. Others are known from the configuration. */
static int wake_listener_begin(struct queue *queue)
{
    const struct config *config = queue->queues->config;

    if (queue->wake.pools)
        return 0;
    for (uint32_t p = 0; p < config->pool_count; p++) {
        const struct config_pool *pool = &config->pools[p];

        if (wake_listener_waits(queue->queues, pool) && pool->queue_count > 0 &&
            queue->config == &pool->queues[pool->queue_count - 1])
            queue->wake.pools |= (uint32_t)1 << p;
    }
    if (!queue->wake.pools)
        return 0;
    if (wake_listener_join(queue) < 0)
        return -1;
    listen_for(queue->wake.listener);
    return 0;
}

static bool wake_listener_busy(const struct queue *queue)
{
    return queue->wake.listener;
}

int wake_listener_new(struct queues *queues, struct later_error *err)
{
    queues->wake_listener = calloc(1, sizeof *queues->wake_listener);
    return queues->wake_listener ? 0 : later_fail(err, LATER_E_SYSTEM, "no memory");
}

void wake_listener_free(struct queues *queues)
{
    if (!queues->wake_listener)
        return;
    leave_all(queues);
    free(queues->wake_listener->list);
    free(queues->wake_listener);
    queues->wake_listener = NULL;
}

const struct service wake_listener_service = {
    .unmake = wake_listener_free,
    .begin = wake_listener_begin,
    .busy = wake_listener_busy,
    .configure = wake_listener_configure,
    .moved = wake_listener_moved,
    .count = wake_listener_count,
};
