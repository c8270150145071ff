/* subscriber.c: the queues' channels. */
#include "queues/subscriber.h"

#include "redis/key.h"
#include "link/link.h"

#include <stdlib.h>
#include <string.h>

struct subscriber {
    const struct config *config;
    struct subscriber_options options;
    struct link *link;
};

/* A call for each: one of two channels would have two answers. */
static void subscribe(struct subscriber *subscriber, const char *queue)
{
    static const enum later_key channels[] = { LATER_KEY_DUE, LATER_KEY_CANCELLED };
    struct later_keys keys;

    later_keys_init(&keys, subscriber->config->redis.prefix, queue);
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        struct later_command cmd = { 0 };

        later_command_say(&cmd, "SUBSCRIBE %s", keys.name[channels[i]]);
        link_send(subscriber->link, &cmd, LINK_TIMEOUT, NULL, NULL);
    }
}

static void subscriber_on_up(void *arg)
{
    struct subscriber *subscriber = arg;
    const struct later_names *served = &subscriber->config->served;

    for (uint32_t i = 0; i < served->count; i++) {
        const struct config_queue *queue = served->items[i];

        subscribe(subscriber, queue->name);
    }
    link_flush(subscriber->link);
}

void subscriber_follow(struct subscriber *subscriber, const char *queue)
{
    if (!link_is_up(subscriber->link))
        return;
    subscribe(subscriber, queue);
    link_flush(subscriber->link);
}

static void subscriber_on_message(void *arg, const char *channel, const char *text)
{
    const struct subscriber *subscriber = arg;
    char queue[LATER_QUEUE_MAX + 1];
    const char *of = later_key_tag(queue, sizeof queue, channel);

    if (!of || *of != ':')
        return;
    if (strcmp(of + 1, later_key_name(LATER_KEY_DUE)) == 0)
        subscriber->options.due(subscriber->options.arg, queue, strtod(text, NULL));
    else if (strcmp(of + 1, later_key_name(LATER_KEY_CANCELLED)) == 0)
        subscriber->options.cancelled(subscriber->options.arg, text);
}

struct subscriber *subscriber_new(struct event_base *base, const struct config *config,
                                  const struct subscriber_options *options, struct later_error *err)
{
    struct subscriber *subscriber = calloc(1, sizeof *subscriber);
    const struct link_options link = { .what = "subscriber",
                                       .quiet = true,
                                       .up = subscriber_on_up,
                                       .message = subscriber_on_message,
                                       .arg = subscriber };

    if (!subscriber) {
        later_fail(err, LATER_E_SYSTEM, "no memory");
        return NULL;
    }
    *subscriber = (struct subscriber){ .config = config, .options = *options };
    subscriber->link = link_new(base, config, &link, err);
    if (!subscriber->link) {
        free(subscriber);
        return NULL;
    }
    return subscriber;
}

void subscriber_free(struct subscriber *subscriber)
{
    if (!subscriber)
        return;
    link_free(subscriber->link);
    free(subscriber);
}

void subscriber_moved(struct subscriber *subscriber, const char *peer)
{
    link_moved(subscriber->link, peer);
}

void subscriber_count(const struct subscriber *subscriber, struct connections *connections)
{
    connections_add(connections, link_redis(subscriber->link));
}
