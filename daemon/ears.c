/* ears.c: the queues' channels. */
#include "ears.h"

#include "key.h"
#include "link.h"

#include <stdlib.h>
#include <string.h>

struct ears {
    const struct config *config;
    struct ears_options options;
    struct link *link;
};

/* Calls fn for each queue of each pool; for one in several pools, as often. */
static void each_queue(struct ears *ears, void (*fn)(struct ears *, const struct later_keys *))
{
    const struct config *config = ears->config;
    struct later_keys keys;

    for (uint32_t p = 0; p < config->pool_count; p++) {
        for (uint32_t q = 0; q < config->pools[p].queue_count; q++) {
            later_keys_init(&keys, config->redis.prefix, config->pools[p].queues[q].name);
            fn(ears, &keys);
        }
    }
}

/* A call for each: one of two channels would have two answers. */
static void subscribe(struct ears *ears, const struct later_keys *keys)
{
    static const enum later_key channels[] = { LATER_KEY_DUE, LATER_KEY_CANCELLED };

    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        struct later_command cmd = { 0 };

        later_command_begin(&cmd, 2);
        later_command_text(&cmd, "SUBSCRIBE");
        later_command_text(&cmd, keys->name[channels[i]]);
        link_send(ears->link, &cmd, LATER_NO_SCRIPT, LINK_TIMEOUT, NULL, NULL);
    }
}

static void on_up(void *arg)
{
    struct ears *ears = arg;

    each_queue(ears, subscribe);
    link_flush(ears->link);
}

/* The queue is what stands in the braces. */
static void on_message(void *arg, const char *channel, const char *text)
{
    struct ears *ears = arg;
    const char *open = strchr(channel, '{'), *shut = open ? strchr(open, '}') : NULL;
    char queue[LATER_QUEUE_MAX + 1];

    if (!shut || (size_t)(shut - open - 1) > LATER_QUEUE_MAX)
        return;
    memcpy(queue, open + 1, (size_t)(shut - open - 1));
    queue[shut - open - 1] = '\0';
    if (strcmp(shut + 2, later_key_name(LATER_KEY_DUE)) == 0)
        ears->options.due(ears->options.arg, queue, strtod(text, NULL));
    else if (strcmp(shut + 2, later_key_name(LATER_KEY_CANCELLED)) == 0)
        ears->options.cancelled(ears->options.arg, text);
}

struct ears *ears_new(struct event_base *base, const struct config *config,
                      const struct ears_options *options, struct later_error *err)
{
    struct ears *ears = calloc(1, sizeof *ears);
    const struct link_options link = {
        .what = "ears", .quiet = true, .up = on_up, .message = on_message, .arg = ears
    };

    if (!ears) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *ears = (struct ears){ .config = config, .options = *options };
    ears->link = link_new(base, config, &link, err);
    if (!ears->link) {
        free(ears);
        return NULL;
    }
    return ears;
}

void ears_free(struct ears *ears)
{
    if (!ears)
        return;
    link_free(ears->link);
    free(ears);
}

void ears_moved(struct ears *ears, const char *peer)
{
    link_moved(ears->link, peer);
}

void ears_count(const struct ears *ears, struct connections *connections)
{
    connections_add(connections, link_redis(ears->link));
}
