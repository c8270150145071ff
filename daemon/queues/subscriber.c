/* subscriber.c: the queues' channels. */
#include "queues/subscriber.h"

#include "fault.h"
#include "queues/migrator.h"
#include "queues/overrides.h"
#include "queues/queues.h"
#include "timer.h"

#include <stdlib.h>
#include <string.h>

struct subscriber {
    struct link *link;
    struct later_keys host; /* of this host; without a name if it cannot be quiet */
    bool stale;             /* it hears of queues that are not served any more */
    struct timer *again;    /* after a refusal: rights may come */
    struct fault refused;
};

#define AGAIN_SECONDS 5.0

static int subscribe_to(const struct queues *queues, const char *channel, later_answer_fn *fn,
                        void *arg)
{
    struct later_command cmd = { 0 };

    later_command_say(&cmd, "SUBSCRIBE %s", channel);
    return link_send(queues->subscriber->link, &cmd, LINK_TIMEOUT, fn, arg);
}

/* What has changed before is asked for now; no later change is missed. */
static void subscriber_on_overrides(void *arg, struct later_answer *answer)
{
    struct queue *queue = arg;
    struct subscriber *subscriber = queue->queues->subscriber;

    queue->open--;
    fault_judge(&subscriber->refused, answer, LOG_WARN,
                "redis refuses to tell of changes (SUBSCRIBE), so laterd hears of them late: %s",
                answer->text);
    if (answer->outcome == LATER_REFUSED)
        timer_in(subscriber->again, AGAIN_SECONDS);
    if (answer->outcome == LATER_ANSWERED)
        overrides_heard(queue);
}

static void subscribe_to_overrides(struct queue *queue)
{
    if (subscribe_to(queue->queues, queue->keys.name[LATER_KEY_OVERRIDES], subscriber_on_overrides,
                     queue) == 0)
        queue->open++;
}

static void subscriber_on_host(void *arg, struct later_answer *answer)
{
    const struct queues *queues = arg;

    if (answer->outcome == LATER_ANSWERED && queues->options.host_told)
        queues->options.host_told(queues->options.arg);
}

/* A call for each: one of two channels would have two answers. */
static void subscribe(struct queue *queue)
{
    subscribe_to(queue->queues, queue->keys.name[LATER_KEY_DUE], NULL, NULL);
    subscribe_to(queue->queues, queue->keys.name[LATER_KEY_CANCELLED], NULL, NULL);
    subscribe_to_overrides(queue);
}

static void subscriber_on_up(void *arg)
{
    struct queues *queues = arg;
    const struct later_keys *host = &queues->subscriber->host;

    for (uint32_t i = 0; i < queues->names.count; i++) {
        if (queues_at(queues, i)->config)
            subscribe(queues_at(queues, i));
    }
    if (overrides_limits(queues))
        subscribe_to_overrides(overrides_limits(queues));
    if (host->queue[0])
        subscribe_to(queues, host->name[LATER_KEY_OVERRIDES], subscriber_on_host, queues);
    link_flush(queues->subscriber->link);
}

static void subscriber_on_again(void *arg)
{
    const struct queues *queues = arg;

    if (link_is_up(queues->subscriber->link))
        subscriber_on_up(arg);
}

static void subscriber_on_message(void *arg, const char *channel, const char *text)
{
    const struct queues *queues = arg;
    char name[LATER_QUEUE_MAX + 1];
    const char *of = later_key_tag(name, sizeof name, channel);
    struct queue *queue = of && *of == ':' ? queues_find(queues, name) : NULL;

    if (of && strcmp(name, LATER_KEY_LIMITS) == 0)
        queue = overrides_limits(queues);
    if (of && strcmp(name, queues->subscriber->host.queue) == 0 && queues->options.host_told)
        queues->options.host_told(queues->options.arg);
    if (!queue)
        return;
    if (strcmp(of + 1, later_key_name(LATER_KEY_DUE)) == 0)
        migrator_due(queue, strtod(text, NULL));
    else if (strcmp(of + 1, later_key_name(LATER_KEY_OVERRIDES)) == 0)
        overrides_heard(queue);
    else if (strcmp(of + 1, later_key_name(LATER_KEY_CANCELLED)) == 0 && queues->options.cancelled)
        queues->options.cancelled(queues->options.arg, text);
}

static int subscriber_begin(struct queue *queue)
{
    struct link *link = queue->queues->subscriber->link;

    if (link_is_up(link)) {
        subscribe(queue);
        link_flush(link);
    }
    return 0;
}

static void subscriber_end(struct queue *queue)
{
    queue->queues->subscriber->stale = true;
}

/* A new connection hears only of what is served. */
static void subscriber_configure(struct queues *queues)
{
    struct subscriber *subscriber = queues->subscriber;

    if (subscriber->stale && link_is_up(subscriber->link))
        link_break(subscriber->link, "other queues are served");
    subscriber->stale = false;
}

static void subscriber_moved(struct queues *queues, const char *peer)
{
    link_moved(queues->subscriber->link, peer);
}

static const char *subscriber_fault(const struct queues *queues)
{
    return fault_text(&queues->subscriber->refused);
}

static void subscriber_count(const struct queues *queues, struct connections *connections)
{
    connections_add(connections, link_redis(queues->subscriber->link));
}

int subscriber_new(struct queues *queues, struct later_error *err)
{
    struct subscriber *subscriber = calloc(1, sizeof *subscriber);
    const struct link_options link = { .what = "subscriber",
                                       .quiet = true,
                                       .up = subscriber_on_up,
                                       .message = subscriber_on_message,
                                       .arg = queues };

    queues->subscriber = subscriber;
    if (!subscriber)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    (void)later_keys_of_host(&subscriber->host, queues->prefix, queues->options.host);
    subscriber->again = timer_new(queues->base, subscriber_on_again, queues);
    if (!subscriber->again)
        return later_fail(err, LATER_E_SYSTEM, "no memory");
    subscriber->link = link_new(queues->base, queues->config, &link, err);
    return subscriber->link ? 0 : -1;
}

static void subscriber_free(struct queues *queues)
{
    if (!queues->subscriber)
        return;
    link_free(queues->subscriber->link);
    timer_free(queues->subscriber->again);
    fault_free(&queues->subscriber->refused);
    free(queues->subscriber);
    queues->subscriber = NULL;
}

const struct service subscriber_service = {
    .unmake = subscriber_free,
    .begin = subscriber_begin,
    .end = subscriber_end,
    .configure = subscriber_configure,
    .moved = subscriber_moved,
    .fault = subscriber_fault,
    .count = subscriber_count,
};
